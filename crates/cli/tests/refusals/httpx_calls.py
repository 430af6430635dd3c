"""Calls a server with httpx on persistent connections and prints the number of calls that got the
expected response. The server refuses them all before it reads their bodies."""

import json
import os
import sys

import httpx

answered = 0
with httpx.Client(timeout=60) as client:
    for refusal in json.loads(os.environ["REFUSALS"]):
        headers = {"content-type": "application/json"}
        if refusal["key"]:
            headers["x-service-key"] = refusal["key"]
        for _ in range(refusal["calls"]):
            try:
                body = b"x" * refusal["bytes"]
                response = client.post(refusal["url"], headers=headers, content=body)
                if response.status_code in refusal["statuses"]:
                    answered += 1
                else:
                    print(refusal["url"], response.status_code, file=sys.stderr)
            except httpx.HTTPError as error:
                print(refusal["url"], repr(error), file=sys.stderr)
print(answered)
