import type { Agent, Dispatcher } from 'undici';
import { decodesBrotli } from './node-release.ts';

interface OutgoingOptions {
  readonly agent?: Agent; // undici's; default: the shared connections
  readonly node?: string; // version of Node.js; default: the running one
}

class PlainConnections {
  #agent: Agent | undefined;

  /**
   * Created on the first call.
   *
   * @param Class from undici, which is loaded by then
   */
  open(Class: typeof Agent): Agent {
    return (this.#agent ??= new Class());
  }
}

const connections = new PlainConnections();

/**
 * Runs `fetch` for all calls of core and plugins. If the Brotli decoder of this Node.js is unsafe, no compression is requested, and a `br`
 * response that arrives anyway is not decoded: status and headers can be read, the body stays compressed.
 *
 * @throws errors of `fetch`
 */
export async function outgoingFetch(
  url: string | URL,
  init: RequestInit = {},
  { agent, node = process.versions.node }: OutgoingOptions = {},
): Promise<Response> {
  const isSafe = decodesBrotli(node);
  if (isSafe && agent === undefined) return fetch(url, init);
  // An agent is incompatible with Node's built-in fetch, which is another version of undici. Imported here because few calls need it.
  const undici = await import('undici');
  const undiciFetch = undici.fetch as unknown as typeof fetch;
  if (isSafe) return undiciFetch(url, { ...init, dispatcher: agent } as unknown as RequestInit);
  const headers = new Headers(init.headers);
  headers.set('accept-encoding', 'identity');
  const dispatcher = (agent ?? connections.open(undici.Agent)).compose(leaveBrotli);
  return undiciFetch(url, { ...init, headers, dispatcher } as unknown as RequestInit);
}

const leaveBrotli: Dispatcher.DispatcherComposeInterceptor = (dispatch) => (options, handler) => {
  const onResponseStart: typeof handler.onResponseStart = (controller, status, headers, message) => {
    if (!isBrotli(headers['content-encoding']))
      return handler.onResponseStart?.call(wrappedHandler, controller, status, headers, message);
    const { 'content-encoding': _coding, ...others } = headers;
    removeCoding(controller.rawHeaders);
    handler.onResponseStart?.call(wrappedHandler, controller, status, others, message);
  };
  // All other methods are inherited from the handler, which keeps its state in itself.
  const wrappedHandler = Object.create(handler, { onResponseStart: { value: onResponseStart } }) as typeof handler;
  return dispatch(options, wrappedHandler);
};

/** True if any coding is `br`; codings are listed in the order they were applied (RFC 9110 §8.4). */
function isBrotli(codings: string | string[] | undefined): boolean {
  return String(codings ?? '')
    .toLowerCase()
    .split(',')
    .some((coding) => coding.trim() === 'br');
}

/** `fetch` reads the raw headers, in which names and values alternate. Changed in place, like in undici itself. */
function removeCoding(raw: Dispatcher.DispatchController['rawHeaders']): void {
  if (!Array.isArray(raw)) return;
  for (let index = raw.length - 2; index >= 0; index -= 2)
    if (String(raw[index]).toLowerCase() === 'content-encoding') raw.splice(index, 2);
}
