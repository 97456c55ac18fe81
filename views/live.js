// Keeps the parts of an open page up to date, under htmx's extension for server-sent events. Beside an EventSource it knows why
// a stream ended, continues where it stopped, and holds no connection while nobody looks: browsers have six for one server.
{
  const hiddenFor = 10_000; // ms until the stream of a hidden tab is closed
  const silentFor = 40_000; // ms without a byte after which the connection counts as lost; the server sends one every 15 s
  const shownAfter = 3_000; // ms without a connection until the page says so
  const retries = { first: 1_000, longest: 30_000 }; // the server names another first one for each stream

  class LiveSource extends EventTarget {
    readyState = 0;
    onopen = null;
    onerror = null;
    #url;
    #lastId = '';
    #failures = 0;
    #retryAfter = retries.first;
    #request;
    #timer;
    #watchdog;
    #isOver = false;
    #listening = new AbortController();

    constructor(url) {
      super();
      this.#url = url;
      const { signal } = this.#listening;
      // The server changes state a moment after a countdown ends.
      document.addEventListener('countdown-end', () => setTimeout(() => this.refresh(), 500), { signal });
      document.addEventListener('visibilitychange', () => this.#followVisibility(), { signal });
      addEventListener('pagehide', () => this.#disconnect(), { signal });
      addEventListener('pageshow', (event) => event.persisted && this.#connect(), { signal });
      addEventListener('online', () => this.#connect(), { signal });
      // htmx adds its listeners first.
      this.#timer = setTimeout(() => document.hidden || this.#connect());
    }

    /** Asks for what has changed at once. */
    refresh() {
      if (this.#request === undefined) return;
      this.#disconnect();
      this.#connect();
    }

    close() {
      this.#isOver = true;
      this.readyState = 2;
      this.#disconnect();
      this.#listening.abort();
    }

    #followVisibility() {
      clearTimeout(this.#timer);
      if (document.hidden) this.#timer = setTimeout(() => this.#disconnect(), hiddenFor);
      else this.#connect();
    }

    #disconnect() {
      clearTimeout(this.#timer);
      clearTimeout(this.#watchdog);
      this.#request?.abort();
      this.#request = undefined;
    }

    async #connect() {
      if (this.#request !== undefined || this.#isOver) return;
      clearTimeout(this.#timer);
      const request = new AbortController();
      this.#request = request;
      try {
        await this.#read(request);
      } catch {
        // Retried for every reason.
      }
      if (this.#request !== request) return;
      this.#disconnect();
      if (!this.#isOver) this.#retry();
    }

    #retry() {
      if (document.hidden) return;
      showSoon('stopped');
      const delay = Math.min(retries.longest, this.#retryAfter * 2 ** this.#failures++);
      this.#timer = setTimeout(() => this.#connect(), delay * (0.5 + Math.random() / 2));
    }

    async #read(request) {
      this.#watch(request);
      const headers = { accept: 'text/event-stream', ...(this.#lastId && { 'last-event-id': this.#lastId }) };
      const { status, body } = await fetch(this.#url, { headers, cache: 'no-store', signal: request.signal });
      if (status === 401) return this.#end('signed_out');
      if (status === 403 || status === 404) return this.#end('gone');
      if (status !== 200) return;
      this.readyState = 1;
      this.onopen?.();
      let text = '';
      const reader = body.pipeThrough(new TextDecoderStream()).getReader();
      for (let read = await reader.read(); !read.done; read = await reader.read()) {
        this.#watch(request);
        const events = (text + read.value).split('\n\n');
        text = events.pop();
        for (const event of events) this.#receive(event);
      }
    }

    #watch(request) {
      clearTimeout(this.#watchdog);
      this.#watchdog = setTimeout(() => request.abort(), silentFor);
    }

    #receive(event) {
      const fields = event.split('\n').filter((line) => !line.startsWith(':'));
      const read = (name) =>
        fields.filter((line) => line.startsWith(`${name}: `)).map((line) => line.slice(name.length + 2));
      this.#retryAfter = Number(read('retry')[0]) || this.#retryAfter;
      const [type] = read('event');
      if (type === undefined) return;
      const data = read('data').join('\n');
      if (type === 'live-open') this.#opened(data);
      else if (type === 'live-state') show(data === 'stopped' ? 'stopped' : undefined);
      else if (type === 'live-redirect') location.assign(data);
      else if (type === 'live-end') this.#end(data);
      else this.dispatchEvent(new MessageEvent(type, { data }));
      this.#lastId = read('id')[0] ?? this.#lastId;
    }

    #opened(build) {
      this.#failures = 0;
      show(undefined);
      const { build: own } = document.getElementById('main')?.dataset ?? {};
      if (own !== undefined && own !== build) reloadOnce();
    }

    #end(reason) {
      show(reason);
      this.close();
    }
  }

  let showing;

  /** Shows in the page why it is not updated; undefined hides the message. */
  function show(state) {
    clearTimeout(showing);
    showing = undefined;
    const place = document.getElementById('live-state');
    const text = state && document.getElementById(`live-${state}`);
    if (!place || place.dataset.state === (state ?? '')) return;
    place.dataset.state = state ?? '';
    place.replaceChildren(...(text ? [text.content.cloneNode(true)] : []));
  }

  function showSoon(state) {
    showing ??= setTimeout(() => show(state), shownAfter);
  }

  /** Reloads after an update of the gateway, unless that would lose input or a text shown once; at most once a minute. */
  function reloadOnce() {
    const key = 'live-reloaded';
    const isRecent = Date.now() - Number(sessionStorage.getItem(key)) < 60_000;
    const fields = [...document.querySelectorAll('main input, main textarea')];
    const isTouched = fields.some((field) => field.value !== field.defaultValue || field === document.activeElement);
    if (isRecent || isTouched || document.querySelector('dialog[open], [data-once]')) return;
    sessionStorage.setItem(key, String(Date.now()));
    setTimeout(() => location.reload(), Math.random() * 3_000);
  }

  /** The reader's activity inside a part, which a swap would interrupt. */
  const inUse = 'dialog[open], input:focus, textarea:focus, select:focus';
  const held = new Map();
  const before = new WeakMap();

  document.addEventListener('htmx:sseBeforeMessage', (event) => {
    const { target: part, detail: message } = event;
    const isHeld = part.matches('[data-hold]') || part.querySelector(inUse) !== null;
    if (isHeld) held.set(part, message);
    else held.delete(part);
    const parsed = document.createElement('template');
    parsed.innerHTML = message.data;
    if (isHeld || parsed.innerHTML === part.innerHTML) return event.preventDefault();
    before.set(part, {
      open: [...part.querySelectorAll('details[open][id]')].map(({ id }) => id),
      scrolled: [...part.querySelectorAll('[id]')]
        .filter(({ scrollLeft }) => scrollLeft > 0)
        .map(({ id, scrollLeft }) => [id, scrollLeft]),
      rows: new Set([...part.querySelectorAll('[data-row]')].map(({ dataset }) => dataset.row)),
    });
  });

  document.addEventListener('htmx:sseMessage', ({ target: part }) => {
    const { open = [], scrolled = [], rows } = before.get(part) ?? {};
    for (const id of open) document.getElementById(id)?.setAttribute('open', '');
    for (const [id, left] of scrolled) document.getElementById(id)?.scrollTo({ left });
    for (const row of part.querySelectorAll('[data-row]'))
      if (rows?.has(row.dataset.row) === false) row.classList.add('fresh');
  });

  /** Applies the update that arrived while a part was in use. Scripts send `live:release` when they remove `data-hold`. */
  function release() {
    for (const [part, { target, type, data }] of held)
      if (part.isConnected) target.dispatchEvent(new MessageEvent(type, { data }));
      else held.delete(part);
  }
  for (const type of ['focusout', 'close', 'live:release'])
    document.addEventListener(type, () => setTimeout(release), { capture: true });

  htmx.createEventSource = (url) => new LiveSource(url);
}
