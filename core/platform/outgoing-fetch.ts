import type { Agent, Dispatcher } from 'undici';
import { decodesBrotli } from './node-release.ts';

interface OutgoingOptions {
  readonly agent?: Agent; // of undici; default: the shared connections
  readonly node?: string; // version of Node.js; default: the running one
}

class PlainConnections {
  #agent: Agent | undefined;

  /**
   * Created on the first call.
   *
   * @param Class from undici, which is loaded then
   */
  open(Class: typeof Agent): Agent {
    return (this.#agent ??= new Class());
  }
}

const connections = new PlainConnections();

/**
 * `fetch`, for all calls of core and plugins. On a Node.js whose decoder of Brotli is not safe, it asks for no compression, and an
 * answer in `br` that comes all the same is left as it is: its status and headers can be read, its body stays compressed.
 *
 * @throws the error of `fetch`
 */
export async function outgoingFetch(
  url: string | URL,
  init: RequestInit = {},
  { agent, node = process.versions.node }: OutgoingOptions = {},
): Promise<Response> {
  const isSafe = decodesBrotli(node);
  if (isSafe && agent === undefined) return fetch(url, init);
  // An agent does not fit the fetch in Node.js, which is of another version of undici. Loaded here: few calls need it.
  const undici = await import('undici');
  const own = undici.fetch as unknown as typeof fetch;
  if (isSafe) return own(url, { ...init, dispatcher: agent } as unknown as RequestInit);
  const headers = new Headers(init.headers);
  headers.set('accept-encoding', 'identity');
  const dispatcher = (agent ?? connections.open(undici.Agent)).compose(leaveBrotli);
  return own(url, { ...init, headers, dispatcher } as unknown as RequestInit);
}

const leaveBrotli: Dispatcher.DispatcherComposeInterceptor = (dispatch) => (options, handler) => {
  const onResponseStart: typeof handler.onResponseStart = (controller, status, headers, message) => {
    if (!isBrotli(headers['content-encoding']))
      return handler.onResponseStart?.call(hiding, controller, status, headers, message);
    const { 'content-encoding': _coding, ...others } = headers;
    removeCoding(controller.rawHeaders);
    handler.onResponseStart?.call(hiding, controller, status, others, message);
  };
  // Everything else is the handler's, which keeps its state in itself.
  const hiding = Object.create(handler, { onResponseStart: { value: onResponseStart } }) as typeof handler;
  return dispatch(options, hiding);
};

/** Codings are listed in the order in which they were applied (RFC 9110 §8.4). */
function isBrotli(codings: string | string[] | undefined): boolean {
  return String(codings ?? '')
    .toLowerCase()
    .split(',')
    .some((coding) => coding.trim() === 'br');
}

/** `fetch` reads these in place of the headers by name. Names and values take turns; changed in place, as undici does itself. */
function removeCoding(raw: Dispatcher.DispatchController['rawHeaders']): void {
  if (!Array.isArray(raw)) return;
  for (let index = raw.length - 2; index >= 0; index -= 2)
    if (String(raw[index]).toLowerCase() === 'content-encoding') raw.splice(index, 2);
}
