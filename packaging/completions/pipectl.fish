# Completion of pipectl in fish. `pipectl complete` provides all words.

function __pipectl_complete
    set -l words (commandline -opc)
    # fish passes the last word with its quotes.
    set -l word (commandline -ct | string replace -r '^["\']' '' | string replace -ar '\\\\(.)' '$1')
    set -l option (string match -r '^--[^=]+=' -- $word; or echo '')
    set -l value (string replace -- "$option" '' "$word")
    for line in ($words[1] complete -- $words[2..] "$word" 2>/dev/null)
        switch $line
            case ':files*'
                printf '%s\n' $option(__fish_complete_path $value)
            case ':folders*'
                printf '%s\n' $option(__fish_complete_directories $value)
            case '*'
                echo $line
        end
    end
end

complete -c pipectl -f -k -a '(__pipectl_complete)'
