import { request } from 'undici';

/** Does what a browser without scripts does: keeps cookies, sends forms with their tokens, and follows redirects on request. */
export class PageClient {
  readonly #origin: string;
  readonly #headers: Readonly<Record<string, string>>;
  readonly cookies = new Map<string, string>();

  constructor(origin: string, headers: Readonly<Record<string, string>> = {}) {
    this.#origin = origin;
    this.#headers = headers;
  }

  async get(path: string, headers: Record<string, string> = {}): Promise<PageReply> {
    return this.#send(path, { headers });
  }

  async submit(page: string, action: string, fields: Record<string, string> = {}): Promise<PageReply> {
    const { text } = await this.get(page);
    return this.post(action, { ...hiddenFields(text, action), ...fields });
  }

  async post(path: string, fields: Record<string, string>, headers: Record<string, string> = {}): Promise<PageReply> {
    const type = { 'content-type': 'application/x-www-form-urlencoded' };
    return this.#send(path, { method: 'POST', fields, headers: { ...type, ...headers } });
  }

  /** Follows redirects, even to other servers, up to the first page. */
  async follow(reply: PageReply): Promise<PageReply> {
    let last = reply;
    for (let count = 0; last.location !== ''; count++) {
      if (count === 10) throw new Error(`redirected 10 times, at last to ${last.location}`);
      last = await this.get(last.location);
    }
    return last;
  }

  async #send(path: string, init: SentRequest): Promise<PageReply> {
    const url = new URL(path, this.#origin);
    const isOwn = url.origin === new URL(this.#origin).origin;
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    // `fetch` would not let the caller set Host.
    const { statusCode, headers, body } = await request(url, {
      method: init.method ?? 'GET',
      headers: { accept: 'text/html', ...(isOwn && { cookie, ...this.#headers }), ...init.headers },
      ...(init.fields !== undefined && { body: new URLSearchParams(init.fields).toString() }),
      signal: AbortSignal.timeout(20_000),
    });
    if (isOwn) this.#keep([headers['set-cookie'] ?? []].flat());
    return { status: statusCode, headers, location: String(headers['location'] ?? ''), url, text: await body.text() };
  }

  #keep(lines: readonly string[]): void {
    for (const line of lines) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (/Max-Age=0/.test(line)) this.cookies.delete(name);
      else this.cookies.set(name, value);
    }
  }
}

/** The first sign-in creates the account. */
export async function signInAt(origin: string, email: string): Promise<PageClient> {
  const client = new PageClient(origin);
  await client.submit('/sign-in', '/sign-in', { name: 'Ada', email });
  return client;
}

interface SentRequest {
  readonly method?: 'POST';
  readonly fields?: Record<string, string>;
  readonly headers: Record<string, string>;
}

export interface PageReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly location: string; // '' if it is not a redirect
  readonly url: URL;
  readonly text: string;
}

/** @throws Error if the page has no form with this action */
export function hiddenFields(html: string, action: string): Record<string, string> {
  const form = html.split('<form').find((part) => part.includes(`action="${action}"`));
  if (form === undefined) throw new Error(`no form for ${action}`);
  const inputs = form.split('</form>')[0]?.matchAll(/type="hidden" name="([^"]+)" value="([^"]*)"/g) ?? [];
  return Object.fromEntries([...inputs].map(([, name = '', value = '']) => [name, unescapeHtml(value)]));
}

function unescapeHtml(text: string): string {
  return text.replaceAll('&quot;', '"').replaceAll('&#39;', "'").replaceAll('&lt;', '<').replaceAll('&amp;', '&');
}
