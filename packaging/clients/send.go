// Sends pictures to pipelined on another machine, and fetches the results.
//
//	export PIPELINED_TOKEN=7f6767e47139e12edde2dbea82a64720
//	go run send.go -recipe web -to results http://localhost:8080 holiday/*.jpg
//
// On that machine, `pipectl gallery token make NAME --role add` prints the token. Needs Go 1.19 and nothing else.
package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"time"
)

type object = map[string]any

type job struct {
	ID                  int
	Input, State, Error string
	Outputs             []string
}

var address, token string

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

// Makes one request, and returns the body of the response. A refusal ends the program; another error may pass.
func ask(method, path string, body []byte) ([]byte, error) {
	request, err := http.NewRequest(method, address+path, bytes.NewReader(body))
	check(err)
	request.Header.Set("Authorization", "Bearer "+token)
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if answer.StatusCode >= 400 {
		var why struct{ Message string }
		json.Unmarshal(text, &why)
		err = fmt.Errorf("%s: %s", answer.Status, why.Message)
		if answer.StatusCode != 502 && answer.StatusCode != 503 {
			log.Fatal(err)
		}
	}
	return text, err
}

// Makes a call, and decodes its reply.
func call(method string, parameters object, reply any) error {
	body, _ := json.Marshal(parameters)
	text, err := ask("POST", "/call/"+method, body)
	if err == nil {
		err = json.Unmarshal(text, reply)
	}
	return err
}

// Waits until the batch has ended. Asks again after an interruption.
func wait(batch int) {
	var found struct{ Batch struct{ Ended string } }
	for found.Batch.Ended == "" {
		time.Sleep(time.Second)
		call("FindBatch", object{"batch": fmt.Sprint(batch)}, &found)
	}
}

func main() {
	log.SetFlags(0)
	recipe := flag.String("recipe", "", "the recipe; without it, the default recipe")
	to := flag.String("to", "results", "the folder for the results")
	flag.Parse()
	address, token = flag.Arg(0), os.Getenv("PIPELINED_TOKEN")
	if flag.NArg() < 2 || token == "" {
		log.Fatal("usage: PIPELINED_TOKEN=... send [-recipe NAME] [-to FOLDER] ADDRESS PICTURE...")
	}
	var made struct{ Batch int }
	check(call("NewBatch", object{}, &made))
	query := url.Values{"batch": {fmt.Sprint(made.Batch)}}
	if *recipe != "" {
		query.Set("recipe", *recipe)
	}
	replies := make([]struct{ Job job }, flag.NArg()-1)
	for i, path := range flag.Args()[1:] {
		picture, err := os.ReadFile(path)
		check(err)
		query.Set("name", filepath.Base(path))
		text, err := ask("PUT", "/upload?"+query.Encode(), picture)
		check(err)
		check(json.Unmarshal(text, &replies[i]))
	}
	// If the answer is lost, the batch is closed, or the gallery closes it after 15 minutes.
	call("CloseBatch", object{"batch": made.Batch}, &object{})
	wait(made.Batch)
	check(os.MkdirAll(*to, 0o755))
	failures := 0
	for _, reply := range replies {
		var shown struct{ Story struct{ Job job } }
		check(call("Show", object{"id": reply.Job.ID}, &shown))
		job := shown.Story.Job
		for i, output := range job.Outputs {
			picture, err := ask("GET", fmt.Sprintf("/pictures/%d/%d", job.ID, i+1), nil)
			check(err)
			target := filepath.Join(*to, fmt.Sprintf("%d-%d-%s", job.ID, i+1, filepath.Base(output)))
			check(os.WriteFile(target, picture, 0o644))
			fmt.Println(target)
		}
		if job.State != "done" {
			log.Printf("%s: %s %s", job.Input, job.State, job.Error)
			failures++
		}
	}
	if failures > 0 {
		os.Exit(1)
	}
}
