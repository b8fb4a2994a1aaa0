"""Drives the daemon with a third-party Varlink client: foreign_client.py SOCKET INBOX."""
import os
import sys

import varlink

socket, inbox = sys.argv[1:]
address = "unix:" + socket

with varlink.Client.new_with_address(address) as client:
    print("interfaces:", *sorted(client.get_interfaces()))
    with client.open("org.varlink.service") as service:
        text = service.GetInterfaceDescription("org.pipelined.Control")["description"]
        print("described:", "yes" if "method CancelAll()" in text else "no")
    with client.open("org.pipelined.Control", namespaced=False) as control:
        status = control.Status()["status"]
        print("queues:", *sorted(status["queues"]))
        control.Pause("render", "a foreign client looks")
        with open(os.path.join(inbox, ".new"), "wb") as file:
            file.write(b"not a picture; it is cancelled before anybody looks")
        os.rename(os.path.join(inbox, ".new"), os.path.join(inbox, "foreign.png"))
    with client.open("org.pipelined.Control") as control:
        for reply in control.Watch(0, _more=True):
            states = [event["job"]["state"] for event in reply["events"] if event.get("job")]
            if states:
                print("watched:", states[0])
                break
    with client.open("org.pipelined.Control") as control:
        print("cancelled:", control.CancelAll()["cancelled"])
    with client.open("org.pipelined.Control") as control:
        number = control.NewBatch("album")["batch"]
        found = control.FindBatch("album")
        print("batch:", found["batch"]["id"] == number, found["others"], control.Batches()["batches"][-1]["name"])
        print("retried:", len(control.Retry([], [], number)["retried"]))
        print("sifted:", *[file["path"] for file in control.Sift(["a.png", "b.txt"])["ignored"]])
    with client.open("org.pipelined.Control") as control:
        added = control.AddUrls(["https://127.0.0.1/a.png", "https://127.0.0.1/b.png"])
        print("added:", added["last"] - added["first"] + 1)
        print("logged:", control.Log(added["first"])["events"][0]["job"]["url"])
        try:
            control.AddUrls(["https://127.0.0.1/c.png", "# no URL"])
        except varlink.VarlinkError as error:
            print("refused:", error.parameters()["message"])
