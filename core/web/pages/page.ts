import type { Readable } from 'node:stream';
import type { IdentityKey } from '#core/business/accounts/identities.ts';
import type { Host } from '#core/gateway/host/host.ts';
import type { Infer, JsonSchema } from '#core/platform/schema.ts';
import type { Awaitable } from '#core/platform/timing/when-settled.ts';
import type { Formatter } from '../texts/formatter.ts';
import type { Language, Translate } from '../texts/texts.ts';
import type { Preference } from './cookies.ts';
import type { IconName } from './icons.ts';

/** Required to open a page: nothing, a signed-in account, or an account listed under `operators` in gateway.yaml. */
export type Role = 'public' | 'account' | 'operator';

/**
 * A page, registered by a plugin with `server.gateway.page`. It is rendered on the server, inside the layout. It works without JavaScript,
 * and is `no-store` unless its role is `public`.
 */
export interface Page {
  /**
   * Path, in hapi's notation: `/orders/{id}`. Not below `/v1`, `/v1beta`, `/v1alpha`, `/v1beta1`, `/v2`, `/anthropic`, `/openai` or
   * `/assets`.
   */
  readonly path: string;
  /** For a path with a placeholder: lists the paths that exist, for search engines; default: none. */
  paths?(host: Host): readonly string[];
  /**
   * For a path of the form `/{name}`: returns true if this page currently exists at `/NAME`. The page then takes precedence over other
   * plugins' routes at that path, which keep all other paths of this form. Called for each such request; default: always true.
   */
  has?(host: Host, name: string): boolean;
  readonly role: Role;
  /**
   * `site`, `account` and `operator`: a header with the pages for that role; default: by role. `plain`: only the logo, for forms that
   * offer no other links. `none`: only the template, for part of a page that htmx loads.
   */
  readonly layout?: 'site' | 'account' | 'operator' | 'plain' | 'none';
  /** Text key for the title. Its placeholders are filled with the values that `show` returns. */
  readonly title: string;
  /** Text key for one sentence, for search engines and link previews. */
  readonly description?: string;
  /** Text key for a short note in the header of the layout `plain`, such as an order number. Placeholders work as in the title. */
  readonly note?: string;
  /**
   * The page's entry in the layout, or just the text key of its label. Omit it if the page is not listed, or if its path has a placeholder.
   */
  readonly navigation?: string | Navigation | readonly Navigation[];
  /**
   * Path of a listed page, such as `/operator/health`. That page links to this one, and is marked in the navigation while this page or one
   * below it is shown. Omit it for a path with a placeholder, because nothing can link to that.
   */
  readonly within?: string;
  /** Returns false to hide the links to this page in the layout and on the page in `within`. Called for every page shown; default: true. */
  isListed?(host: Host): boolean;
  /** True for a public page whose URL alone reveals one person's data. It is then not stored, indexed or sent as a referrer. */
  readonly isConfidential?: boolean;
  /**
   * Path of an eta template: absolute, or relative to the gateway's own `views/`. The template gets the result of `show` as `it`, together
   * with `it.t`, `it.icon`, `it.asset` and `it.formToken`; on operator pages, `it.done` confirms the action that led here. Omit it if
   * `show` only ever returns a Redirect, a Download or nothing.
   */
  readonly template?: string;
  /** Names of assets to load as style sheets after the gateway's own; default: by role, the style sheets of operator pages. */
  readonly styles?: readonly string[];
  /** Names of assets to load as scripts: `htmx.js`. */
  readonly scripts?: readonly string[];
  /**
   * Computes the values for the template, formatted for the reader. `refreshSeconds` makes the page reload even without JavaScript.
   *
   * @returns the values; a Redirect to another page, which htmx loads as a full page; or a Download to send a file
   * @throws PageError
   */
  show(request: PageRequest): Awaitable<Redirect | Download | object>;
  readonly forms?: readonly PageForm[];
  /** Parts that are updated while the page is open. */
  readonly live?: LiveParts;
}

/** Texts and formats in the reader's language. */
export type Localizer = Pick<PageRequest, 't' | 'format'>;
/** A localizer and the host, for code that reads more data while it describes a page. */
export type PageReader = Pick<PageRequest, 't' | 'format' | 'host'>;

/**
 * Topics that open pages can follow. For the page's account: `requests`, its records; `account`, its key, plan and limits; `orders`. For
 * the gateway: `health`, the states of routes and models. Pages whose role is not `account` follow all accounts.
 */
export const liveTopics = ['requests', 'account', 'orders', 'health'] as const;
export type LiveTopic = (typeof liveTopics)[number];

/**
 * Parts of a page that are sent again when they change. Each tab has one stream, at `<path>/live` with the page's query; the layout opens
 * it. In the template, a part is `<div id="tiles" sse-swap="tiles"><%~ include(…) %></div>`.
 */
export interface LiveParts {
  readonly topics: readonly LiveTopic[];
  /** How often to render again even without a change, for values that depend on the time, such as a rate limit that refills. */
  readonly everySeconds?: number;
  /** Template paths by part, as in `template`. A part is sent if its HTML has changed. */
  readonly parts: Readonly<Record<string, string>>;
  /**
   * Computes the values for these templates; default: calls `show`. Tabs of one session at the same address share the result.
   *
   * @returns a Redirect to show another page instead
   * @throws PageError below 500 if the page no longer exists; after any other error, rendering is tried again
   */
  values?(request: PageRequest): Awaitable<Redirect | object>;
}

/**
 * A form on a page, sent by POST. `submit` is called only if the sender has the page's role, the form comes from a page of this gateway in
 * this browser, and the fields match the schema.
 */
export interface PageForm<S extends JsonSchema = JsonSchema> {
  /** Path to send the form to; default: the page's own. */
  readonly path?: string;
  /** Object schema for the fields. Values are converted to its types; fields that it does not declare are dropped. */
  readonly fields: S;
  /** True if a form may be processed only once. Sending it again is answered with 409. */
  readonly once?: boolean;
  /**
   * Processes the form.
   *
   * @returns a Redirect to the next page, or additional values to show this page again; default: shows it unchanged
   * @throws FieldErrors to show the page again with the input; PageError
   */
  submit(input: Infer<S>, request: PageRequest): Awaitable<Redirect | object | void>;
}

export interface SignedInAccount {
  readonly id: string;
  readonly name: string;
  readonly email: string | undefined;
  readonly avatarUrl: string | undefined;
}

/** Input and errors of a rejected form; empty otherwise. */
export interface FormState {
  readonly values: Readonly<Record<string, string>>;
  /** Error messages by field, in the visitor's language. */
  readonly errors: Readonly<Record<string, string>>;
}

/** A request for a page, as passed to `show` and `submit`. */
export interface PageRequest {
  /** Request id. It is logged, and shown on error pages. */
  readonly id: string;
  readonly host: Host;
  readonly path: string;
  readonly params: Readonly<Record<string, string>>;
  /** If a parameter was sent several times, its last value. */
  readonly query: Readonly<Record<string, string>>;
  readonly language: Language;
  readonly t: Translate;
  /** Formats money, numbers and times for this visitor. */
  readonly format: Formatter;
  /** The signed-in account; always set if the page's role is not `public`. */
  readonly account: SignedInAccount | undefined;
  /** Id of the session's row in `session`. */
  readonly sessionId: string | undefined;
  readonly isOperator: boolean;
  /** The browser's User-Agent; '' if it sent none. */
  readonly userAgent: string;
  /** The client's IP address, as seen through trusted proxies. */
  readonly address: string;
  /** True if the browser runs on the gateway's own machine and is not behind a proxy. */
  readonly isThisMachine: boolean;
  readonly form: FormState;
  /** Returns a form token that is valid only for this browser and this path. */
  formToken(path: string): string;
  /** Stores the visitor's choice in a cookie for a year. It applies from the next request on. */
  remember(preference: Preference, value: string): void;
  /**
   * Signs the account in with a new session, which replaces the current one.
   *
   * @throws AccountError `not_found` if the account no longer has the identity
   */
  signIn(accountId: string, identity?: IdentityKey): Promise<void>;
  signOut(): Promise<void>;
}

/** Returns the signed-in account. Call this only on a page whose role is not `public`. */
export function accountOf({ account }: PageRequest): SignedInAccount {
  if (account === undefined) throw new Error('no account is signed in; the role of this page is "public"');
  return account;
}

/** The page to show after a form: a path on this gateway. */
export class Redirect {
  readonly path: string;

  constructor(path: string) {
    this.path = path;
  }
}

/** A file for the browser to save. */
export class Download {
  /** May contain letters, digits, `.`, `-` and `_`. */
  readonly fileName: string;
  readonly type: string;
  /** The bytes, or a stream of them. A stream is destroyed if the client goes away. */
  readonly body: Buffer | Readable;

  constructor(fileName: string, type: string, body: Buffer | Readable) {
    this.fileName = fileName;
    this.type = type;
    this.body = body;
  }
}

/**
 * Throw it in `submit` if the input is invalid although it matches the schema. Contains text keys by field; '' stands for the whole form.
 */
export class FieldErrors extends Error {
  override readonly name = 'FieldErrors';
  readonly fields: Readonly<Record<string, string>>;
  /** Values for the texts' placeholders. */
  readonly values: Readonly<Record<string, string | number>>;

  constructor(fields: Readonly<Record<string, string>>, values: FieldErrors['values'] = {}) {
    super(`refused: ${Object.keys(fields).join(', ')}`);
    this.fields = fields;
    this.values = values;
  }
}

/** Infers the type of a form's input from its schema. */
export function defineForm<const S extends JsonSchema>(form: PageForm<S>): PageForm {
  return form;
}

/** A file, or a folder of files, that browsers load from `/assets`. Templates get a file's URL with `it.asset(name)`. */
export interface AssetSource {
  /** For a file, its name: `htmx.js`. For a folder, the prefix for its files' names: `dashboard`. */
  readonly name: string;
  /** Absolute, or relative to `views/`, as in `template`. */
  readonly path: string;
}

/** A page's entry in the layout for its role. */
export interface Navigation {
  /** Text key. */
  readonly label: string;
  /** Icon in the bottom bar on phones. */
  readonly icon?: IconName;
  /** Path of the entry to follow, such as `/dashboard/requests`. If that entry is not listed, `order` decides. */
  readonly after?: string;
  /** Ascending; default: 100. */
  readonly order?: number;
  /** `main`, the default: in the header. `menu`: in the account menu. */
  readonly place?: 'main' | 'menu';
  /** False to leave it out of the bottom bar on phones, because the account page contains it. */
  readonly isInBar?: boolean;
  /** Where the entry leads; default: to the page itself. Use it for parts of a page: `/#plans`. */
  readonly path?: string;
  /** Paths of other pages for which the entry is also marked as current. */
  readonly covers?: readonly string[];
}
