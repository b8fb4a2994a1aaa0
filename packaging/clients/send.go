// Sends pictures to pipelined on another machine, waits for them, and fetches the results.
//
//	PIPELINED_TOKEN=... go run send.go -recipe web -to results http://localhost:8080 holiday/*.jpg
//
// On that machine, `pipectl gallery token make NAME --role add` prints the token. Needs Go 1.19 and nothing else.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"
)

type job struct {
	ID           int
	Input, State string
	Error        *string
	Outputs      []string
}

// A refusal, in the daemon's words.
type refused struct{ Message string }

func (r refused) Error() string { return "refused: " + r.Message }

func isRefusal(err error) bool { return errors.As(err, new(refused)) }

type gallery struct{ address, token string }

// Returns the response; the caller must close its body.
func (g gallery) ask(method, path string, body io.Reader, length int64) (*http.Response, error) {
	request, err := http.NewRequest(method, g.address+path, body)
	if err != nil {
		return nil, err
	}
	request.ContentLength = length
	request.Header.Set("Authorization", "Bearer "+g.token)
	answer, err := http.DefaultClient.Do(request)
	if err != nil || answer.StatusCode < 400 {
		return answer, err
	}
	defer answer.Body.Close()
	text, _ := io.ReadAll(answer.Body)
	if answer.StatusCode == 502 || answer.StatusCode == 503 {
		return nil, errors.New(strings.TrimSpace(string(text)))
	}
	var why refused
	if json.Unmarshal(text, &why) != nil {
		why.Message = strings.TrimSpace(string(text))
	}
	return nil, why
}

// Attempts for each call: one until a call has been answered, then thirty, two seconds apart.
var tries = 1

func (g gallery) call(name string, parameters map[string]any, reply any) error {
	body, _ := json.Marshal(parameters)
	for try := 1; ; try++ {
		answer, err := g.ask("POST", "/call/"+name, bytes.NewReader(body), int64(len(body)))
		if err == nil {
			defer answer.Body.Close()
			tries = 30
			return json.NewDecoder(answer.Body).Decode(reply)
		}
		if isRefusal(err) || try >= tries {
			return err
		}
		time.Sleep(2 * time.Second)
	}
}

// All jobs of the batch, oldest first.
func (g gallery) jobs(batch int) (found []job, err error) {
	wish := map[string]any{"states": []string{}, "batch": batch, "limit": 500}
	for {
		var page struct{ Jobs []job }
		if err = g.call("List", wish, &page); err != nil {
			return nil, err
		}
		found = append(page.Jobs, found...)
		if len(page.Jobs) < 500 {
			return found, nil
		}
		wish["before"] = page.Jobs[0].ID
	}
}

// Sends a picture; sends it again if there was no answer. Pictures are sent one after another.
func (g gallery) upload(path string, batch int, recipe string) error {
	query := url.Values{"name": {filepath.Base(path)}, "batch": {fmt.Sprint(batch)}}
	if folder := filepath.Dir(path); folder != "." && !filepath.IsAbs(path) && !strings.HasPrefix(folder, "..") {
		query.Set("folder", folder)
	}
	if recipe != "" {
		query.Set("recipe", recipe)
	}
	before, err := g.jobs(batch)
	if err != nil {
		return err
	}
	for {
		file, err := os.Open(path)
		if err != nil {
			return err
		}
		status, _ := file.Stat()
		answer, err := g.ask("PUT", "/upload?"+query.Encode(), file, status.Size())
		file.Close()
		if err == nil {
			return answer.Body.Close()
		}
		if isRefusal(err) {
			return err
		}
		// Even without an answer, the picture may have become a job.
		time.Sleep(2 * time.Second)
		jobs, err := g.jobs(batch)
		if err != nil || len(jobs) > len(before) {
			return err
		}
	}
}

// Waits until all jobs of the batch are over, and returns them. Resumes a broken connection from its cursor.
func (g gallery) wait(batch int, after string) ([]job, error) {
	for ; ; time.Sleep(2 * time.Second) {
		answer, err := g.ask("GET", "/events?after="+after, nil, 0)
		if isRefusal(err) {
			return nil, err
		} else if err != nil {
			continue
		}
		kind, lines := "", bufio.NewReader(answer.Body)
		// The gallery sends something at least every 15 seconds, unless the connection is dead.
		silence := time.AfterFunc(time.Minute, func() { answer.Body.Close() })
		for {
			line, err := lines.ReadString('\n')
			silence.Reset(time.Minute)
			if err != nil {
				break
			}
			name, value, _ := strings.Cut(strings.TrimRight(line, "\n"), ": ")
			switch name {
			case "event":
				kind = value
			case "id":
				after = value
			case "data":
				var event struct {
					Kind, Text string
					Batch      struct{ ID int }
				}
				isEvent := kind == "" && json.Unmarshal([]byte(value), &event) == nil
				if kind == "lost" || isEvent && event.Kind == "batch" && event.Text == "ended" && event.Batch.ID == batch {
					if jobs, err := g.jobs(batch); err == nil && areOver(jobs) {
						answer.Body.Close()
						return jobs, nil
					}
				}
				kind = ""
			}
		}
		answer.Body.Close()
	}
}

func areOver(jobs []job) bool {
	for _, job := range jobs {
		if job.State != "done" && job.State != "failed" && job.State != "cancelled" {
			return false
		}
	}
	return true
}

func (g gallery) fetch(job job, folder string) error {
	for number, output := range job.Outputs {
		answer, err := g.ask("GET", fmt.Sprintf("/pictures/%d/%d", job.ID, number+1), nil, 0)
		if err != nil {
			return err
		}
		bytes, err := io.ReadAll(answer.Body)
		answer.Body.Close()
		if err != nil {
			return err
		}
		target := filepath.Join(folder, fmt.Sprintf("%d-%d-%s", job.ID, number+1, filepath.Base(output)))
		if err = os.WriteFile(target+".part", bytes, 0o644); err != nil {
			return err
		}
		if err = os.Rename(target+".part", target); err != nil {
			return err
		}
		fmt.Println(target)
	}
	return nil
}

func send(g gallery, pictures []string, recipe, folder string) (failures int, err error) {
	var now struct{ Status struct{ Cursor int } }
	if err = g.call("Status", map[string]any{}, &now); err != nil {
		return
	}
	var made struct{ Batch int }
	if err = g.call("NewBatch", map[string]any{"name": filepath.Base(filepath.Dir(pictures[0]))}, &made); err != nil {
		return
	}
	for _, picture := range pictures {
		if err = g.upload(filepath.Clean(picture), made.Batch, recipe); err != nil {
			break
		}
	}
	closing := g.call("CloseBatch", map[string]any{"batch": made.Batch}, new(struct{}))
	if err == nil {
		err = closing
	}
	if err != nil {
		return
	}
	jobs, err := g.wait(made.Batch, fmt.Sprint(now.Status.Cursor))
	if err != nil {
		return
	}
	if err = os.MkdirAll(folder, 0o755); err != nil {
		return
	}
	for _, job := range jobs {
		if err = g.fetch(job, folder); err != nil {
			return
		}
		if job.State != "done" {
			failures++
			why := job.State
			if job.Error != nil {
				why = *job.Error
			}
			fmt.Fprintf(os.Stderr, "%s: %s\n", job.Input, why)
		}
	}
	return
}

func main() {
	recipe := flag.String("recipe", "", "the recipe; default: the default recipe")
	to := flag.String("to", "results", "the folder for the results")
	flag.Parse()
	if flag.NArg() < 2 {
		fmt.Fprintln(os.Stderr, "usage: PIPELINED_TOKEN=... send [-recipe NAME] [-to FOLDER] ADDRESS PICTURE...")
		os.Exit(2)
	}
	if os.Getenv("PIPELINED_TOKEN") == "" {
		fmt.Fprintln(os.Stderr, "PIPELINED_TOKEN is not set")
		os.Exit(2)
	}
	failures, err := send(gallery{strings.TrimRight(flag.Arg(0), "/"), os.Getenv("PIPELINED_TOKEN")}, flag.Args()[1:], *recipe, *to)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	if err != nil || failures > 0 {
		os.Exit(1)
	}
}
