// Search in pages that were opened from a folder: browsers start no workers there, so that their script runs in a frame.
"use strict"

class IFrameWorker extends EventTarget {
  constructor(url) {
    super()
    this.frame = document.createElement("iframe")
    this.frame.hidden = true
    document.body.append(this.frame)
    const inside = this.frame.contentWindow
    inside.document.write("<!doctype html><title>search</title><body></body>")
    inside.document.close()
    inside.postMessage = data => this.dispatchEvent(new MessageEvent("message", { data }))
    const script = inside.document.createElement("script")
    script.src = new URL(url, document.baseURI).href
    this.ready = new Promise((resolve, reject) => Object.assign(script, { onload: resolve, onerror: reject }))
    inside.document.body.append(script)
  }

  postMessage(data) {
    this.ready.then(() => this.frame.contentWindow.dispatchEvent(new MessageEvent("message", { data })))
  }

  terminate() {
    this.frame.remove()
  }
}

if (location.protocol === "file:") Object.assign(window, { IFrameWorker, Worker: IFrameWorker })
