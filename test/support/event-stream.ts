/** Reads events as a page's script does. */
export interface EventStream extends AsyncDisposable {
  readonly status: number;
  readonly headers: Headers;
  readonly events: readonly StreamEvent[]; // so far
  find(holds: (event: StreamEvent) => boolean): Promise<StreamEvent>; // the first, past or future, for which `holds` returns true
  readonly ended: Promise<void>; // when the server has ended the stream
}

export interface StreamEvent {
  readonly name: string;
  readonly data: string;
  readonly id: string;
}

export async function openEventStream(
  url: string,
  headers: Record<string, string> = {},
  findTimeoutMs = 15_000,
): Promise<EventStream> {
  const closing = new AbortController();
  const response = await fetch(url, {
    headers: { accept: 'text/event-stream', ...headers },
    signal: closing.signal,
    redirect: 'manual',
  });
  const events: StreamEvent[] = [];
  const arrival = new EventTarget();
  const ended = readAll(response, (event) => {
    events.push(event);
    arrival.dispatchEvent(new Event('event'));
  }).catch(() => undefined);
  const find = async (holds: (event: StreamEvent) => boolean): Promise<StreamEvent> => {
    const known = events.find(holds);
    if (known !== undefined) return known;
    const { promise, resolve, reject } = Promise.withResolvers<StreamEvent>();
    const look = () => {
      const found = events.find(holds);
      if (found !== undefined) resolve(found);
    };
    const seen = () => events.map(({ name, data }) => `${name}: ${data.slice(0, 80)}`).join('\n');
    const timer = setTimeout(
      () => reject(new Error(`not within ${findTimeoutMs} ms; came:\n${seen()}`)),
      findTimeoutMs,
    );
    arrival.addEventListener('event', look);
    return promise.finally(() => {
      clearTimeout(timer);
      arrival.removeEventListener('event', look);
    });
  };
  return {
    status: response.status,
    headers: response.headers,
    events,
    find,
    ended,
    async [Symbol.asyncDispose]() {
      closing.abort();
      await ended;
    },
  };
}

async function readAll(response: Response, add: (event: StreamEvent) => void): Promise<void> {
  if (response.body === null) return;
  let text = '';
  for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
    const parts = (text + chunk).split('\n\n');
    text = parts.pop() ?? '';
    for (const part of parts) {
      const lines = part.split('\n');
      const read = (name: string) =>
        lines.filter((line) => line.startsWith(`${name}: `)).map((line) => line.slice(name.length + 2));
      const [name] = read('event');
      if (name !== undefined) add({ name, data: read('data').join('\n'), id: read('id')[0] ?? '' });
    }
  }
}
