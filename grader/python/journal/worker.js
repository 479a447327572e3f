// The search needs a worker, but browsers allow none in a page that was opened as a file. An iframe replaces it.
if (location.protocol === "file:")
    window.Worker = class extends EventTarget {
        constructor(url) {
            super();
            const frame = document.createElement("iframe");
            frame.hidden = true;
            document.body.append(frame);
            this.inside = frame.contentWindow;
            this.inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
            this.inside.importScripts = (...urls) => Promise.all(urls.map((url) => this.load(url)));
            this.ready = this.load(url);
        }
        load(url) {
            const script = this.inside.document.createElement("script");
            script.src = url;
            this.inside.document.body.append(script);
            return new Promise((resolve, reject) => Object.assign(script, { onload: resolve, onerror: reject }));
        }
        postMessage(data) {
            this.ready.then(() => this.inside.dispatchEvent(new MessageEvent("message", { data })));
        }
    };
