import type { Agent, Dispatcher } from 'undici';
import { decodesBrotliSafely } from './node-release.ts';

interface OutgoingOptions {
  readonly agent?: Agent; // undici's; default: the shared connections
  readonly nodeVersion?: string; // version of Node.js; default: the running one
}

class PlainConnections {
  #agent: Agent | undefined;

  open(AgentClass: typeof Agent): Agent {
    return (this.#agent ??= new AgentClass());
  }
}

const connections = new PlainConnections();

/**
 * Runs `fetch` for all calls of core and plugins. If this Node.js decodes Brotli unsafely, no compression is requested, and a `br` response
 * that arrives anyway is not decoded: its status and headers can be read, its body stays compressed.
 */
export async function outgoingFetch(
  url: string | URL,
  init: RequestInit = {},
  { agent, nodeVersion: node = process.versions.node }: OutgoingOptions = {},
): Promise<Response> {
  const isSafe = decodesBrotliSafely(node);
  if (isSafe && agent === undefined) return fetch(url, init);
  // Node's built-in fetch is a different version of undici and rejects our agents. Imported here because few calls need it.
  const undici = await import('undici');
  const undiciFetch = undici.fetch as unknown as typeof fetch;
  if (isSafe) return undiciFetch(url, { ...init, dispatcher: agent } as unknown as RequestInit);
  const headers = new Headers(init.headers);
  headers.set('accept-encoding', 'identity');
  const dispatcher = (agent ?? connections.open(undici.Agent)).compose(keepBrotliEncoded);
  return undiciFetch(url, { ...init, headers, dispatcher } as unknown as RequestInit);
}

const keepBrotliEncoded: Dispatcher.DispatcherComposeInterceptor = (dispatch) => (options, handler) => {
  const onResponseStart: typeof handler.onResponseStart = (controller, status, headers, message) => {
    if (!isBrotli(headers['content-encoding']))
      return handler.onResponseStart?.call(wrappedHandler, controller, status, headers, message);
    const { 'content-encoding': _coding, ...otherHeaders } = headers;
    removeContentEncoding(controller.rawHeaders);
    handler.onResponseStart?.call(wrappedHandler, controller, status, otherHeaders, message);
  };
  // Inherits all other methods. The original is called with this object as `this`, because undici's handlers store their state there.
  const wrappedHandler = Object.create(handler, { onResponseStart: { value: onResponseStart } }) as typeof handler;
  return dispatch(options, wrappedHandler);
};

function isBrotli(codings: string | string[] | undefined): boolean {
  return String(codings ?? '')
    .toLowerCase()
    .split(',')
    .some((coding) => coding.trim() === 'br'); // RFC 9110 §8.4
}

/** In place, as undici does. `fetch` reads these raw headers, in which names and values alternate. */
function removeContentEncoding(rawHeaders: Dispatcher.DispatchController['rawHeaders']): void {
  if (!Array.isArray(rawHeaders)) return;
  for (let index = rawHeaders.length - 2; index >= 0; index -= 2)
    if (String(rawHeaders[index]).toLowerCase() === 'content-encoding') rawHeaders.splice(index, 2);
}
