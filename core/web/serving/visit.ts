import type { Request, ResponseToolkit } from '@hapi/hapi';
import type { IdentityKey } from '#core/business/accounts/identities.ts';
import { service } from '#core/config/sections/core-sections.ts';
import type { Host } from '#core/gateway/host/host.ts';
import { clientConnection } from '#core/gateway/http/client-connection.ts';
import { isFromThisMachine } from '#core/gateway/http/this-machine.ts';
import { type Cookies, cookiesOf, createToken, type Preference } from '../pages/cookies.ts';
import { isHtmx } from '../pages/htmx.ts';
import type { FormState, PageRequest, Role, SignedInAccount } from '../pages/page.ts';
import { removeNul } from '../pages/remove-nul.ts';
import { createFormToken } from '../sessions/form-token.ts';
import { endSession, sessionsOf, sessionOf, startSession } from '../sessions/sign-in.ts';
import { type Formatter, getFormatter } from '../texts/formatter.ts';
import { chooseLanguage, type Language, type Translate } from '../texts/texts.ts';
import type { Translator } from '../texts/translator.ts';

export const themes = ['system', 'light', 'dark'] as const; // `system` follows the browser's theme
type Theme = (typeof themes)[number];

const emptyForm: FormState = { values: {}, errors: {} };

export class Visit implements PageRequest {
  readonly host: Host;
  readonly path: string;
  readonly cookies: Cookies;
  readonly language: Language;
  readonly t: Translate;
  readonly format: Formatter;
  readonly account: SignedInAccount | undefined;
  readonly sessionId: string | undefined;
  readonly isOperator: boolean;
  form: FormState = emptyForm;
  readonly #request: Request;
  readonly #h: ResponseToolkit;

  /** @param path the page's path, if the request was rerouted */
  constructor(request: Request, h: ResponseToolkit, host: Host, translator: Translator, path: string = request.path) {
    this.#request = request;
    this.path = path;
    this.#h = h;
    this.host = host;
    this.cookies = cookiesOf(request, host);
    this.language = chooseLanguage(this.cookies.get('language'), request.raw.req.headers['accept-language']);
    this.t = translator.in(this.language);
    this.format = getFormatter(this.language, this.cookies.get('zone'), host.section(service).time_zone);
    const session = sessionOf(request);
    this.account = session?.account;
    this.sessionId = session?.id;
    this.isOperator = session?.isOperator === true;
  }

  get id(): string {
    return this.#request.info.id;
  }

  get isGet(): boolean {
    return this.#request.method === 'get';
  }

  get isHtmx(): boolean {
    return isHtmx(this.#request);
  }

  /** Including `?`; '' if there is no query string. */
  get search(): string {
    return this.#request.url.search;
  }

  get params(): Readonly<Record<string, string>> {
    const entries = Object.entries(this.#request.params as Record<string, string>);
    return Object.fromEntries(entries.map(([name, value]) => [name, removeNul(value)]));
  }

  get query(): Readonly<Record<string, string>> {
    const entries = Object.entries(this.#request.query as Record<string, string | string[]>);
    return Object.fromEntries(entries.map(([name, value]) => [name, removeNul([value].flat().at(-1) ?? '')]));
  }

  get theme(): Theme {
    return themes.find((theme) => theme === this.cookies.get('theme')) ?? 'system';
  }

  get userAgent(): string {
    return this.#request.raw.req.headers['user-agent'] ?? '';
  }

  get address(): string {
    return clientConnection(this.#request, this.host).address;
  }

  get isThisMachine(): boolean {
    return isFromThisMachine(this.#request, this.host);
  }

  has(role: Role): boolean {
    return role === 'public' || (role === 'operator' ? this.isOperator : this.account !== undefined);
  }

  /** Sets the session cookie if the visitor has none. */
  formToken(path: string): string {
    let { token } = this.cookies;
    if (token === undefined) {
      token = createToken('v');
      this.cookies.setToken(this.#h, token);
    }
    return createFormToken(token, path, this.host.now());
  }

  remember(preference: Preference, value: string): void {
    this.cookies.setPreference(this.#h, preference, value);
  }

  async signIn(accountId: string, identity?: IdentityKey): Promise<void> {
    await startSession(this.#request, this.#h, this.cookies, sessionsOf(this.host), accountId, identity);
  }

  async signOut(): Promise<void> {
    await endSession(this.#h, this.cookies, sessionsOf(this.host));
  }
}
