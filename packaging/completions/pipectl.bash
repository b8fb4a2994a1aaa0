# Completion of pipectl in bash. `pipectl complete` provides all words.

_pipectl() {
    # bash splits words at = and :, but pipectl does not.
    local words=() word joins=''
    for word in "${COMP_WORDS[@]:1:COMP_CWORD}"; do
        if [[ $joins || ${#words[@]} -gt 0 && $word == [=:]* ]]; then
            words[${#words[@]} - 1]+=$word
        else
            words+=("$word")
        fi
        if [[ $word == *[=:] ]]; then joins=yes; else joins=''; fi
    done

    # pipectl gets the words without the shell's quotes.
    words=("${words[@]//[\"\'\\]/}")
    word=${words[${#words[@]} - 1]}
    # bash does not replace the text before the last = or :, unless it is within quotes.
    local quoted='' kept=''
    if [[ ${COMP_WORDS[COMP_CWORD]} == [\"\']* ]]; then quoted=yes; fi
    if [[ ! $quoted && $word == *[=:]* ]]; then kept=${word%"${word##*[=:]}"}; fi

    local candidate
    COMPREPLY=()
    while IFS=$'\t' read -r candidate _; do
        case $candidate in
        :files) _pipectl_paths -f "${word#"$kept"}" ;;
        :folders) _pipectl_paths -d "${word#"$kept"}" ;;
        *)
            candidate=${candidate#"$kept"}
            if [[ $candidate == *= ]]; then compopt -o nospace; fi
            if [[ ! $quoted && $candidate == *[^[:alnum:]_.,:=/%+#-]* ]]; then printf -v candidate %q "$candidate"; fi
            COMPREPLY+=("$candidate")
            ;;
        esac
    done < <("$1" complete -- "${words[@]}" 2>/dev/null)
}

_pipectl_paths() {
    local path
    compopt -o filenames
    while IFS= read -r path; do COMPREPLY+=("$path"); done < <(compgen "$1" -- "$2" | sort)
}

complete -o nosort -F _pipectl pipectl
