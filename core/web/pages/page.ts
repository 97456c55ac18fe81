import type { Readable } from 'node:stream';
import type { IdentityKey } from '#core/business/accounts/identities.ts';
import type { Host } from '#core/gateway/host/host.ts';
import type { Infer, JsonSchema } from '#core/platform/schema.ts';
import type { Awaitable } from '#core/platform/timing/when-settled.ts';
import type { Formatter } from '../texts/formatter.ts';
import type { Language, Translate } from '../texts/texts.ts';
import type { Preference } from './cookies.ts';
import type { IconName } from './icons.ts';

/** Audience of a page: anyone, a signed-in account, or an account named in `operators` of gateway.yaml. */
export type Role = 'public' | 'account' | 'operator';

/**
 * A page, registered by a plugin with `server.gateway.page`. It is rendered on the server into the layout, works without
 * JavaScript, and is `no-store` unless its role is `public`.
 */
export interface Page {
  /** Path as hapi writes it: `/orders/{id}`. Not below `/v1`, `/v1beta`, `/v1alpha`, `/v1beta1`, `/v2`, `/anthropic`, `/openai` or `/assets`. */
  readonly path: string;
  /** Lists the existing paths of a page with a placeholder, for search engines; default: none. */
  paths?(host: Host): readonly string[];
  /**
   * Returns true if this page currently exists at `/NAME`, for a path of the form `/{name}`. The page takes precedence over routes of
   * plugins at that path, which keep all other paths of this form. Called for each such request; default: always true.
   */
  has?(host: Host, name: string): boolean;
  readonly role: Role;
  /**
   * `site`, `account` and `operator`: header with the pages of that role; default: by role. `plain`: only the logo, for forms that should
   * offer no way out. `none`: only the template, for a part of a page that htmx loads.
   */
  readonly layout?: 'site' | 'account' | 'operator' | 'plain' | 'none';
  /** Key of the title, whose placeholders are filled with the values that `show` returns. */
  readonly title: string;
  /** Key of one sentence for search engines and link previews. */
  readonly description?: string;
  /** Key of a short text in the header of the layout `plain`, with placeholders as in the title: an order number. */
  readonly note?: string;
  /** Its entry in the layout, or the entry's text key. Omitted for unlisted pages, and for a path with a placeholder. */
  readonly navigation?: string | Navigation | readonly Navigation[];
  /**
   * Path of a listed page, such as `/operator/health`, that links to this one and is marked in the navigation while it or a page below it
   * is shown. Omitted for a path with a placeholder, to which nothing can link.
   */
  readonly within?: string;
  /** Returns false to hide the links in its layout and on the page in `within`. Called for every page shown; default: true. */
  isListed?(host: Host): boolean;
  /** True for a public page whose URL alone reveals one person's data: it is neither stored, indexed nor sent as a referrer. */
  readonly isConfidential?: boolean;
  /**
   * Absolute path of an eta template; a relative one is in the gateway's own `views/`. It gets the result of `show` as `it`, in addition to
   * `it.t`, `it.icon`, `it.asset` and `it.formToken`; on operators' pages, `it.done` confirms the action that led to it. Omit it if `show`
   * only returns a Redirect, a Download or nothing.
   */
  readonly template?: string;
  /** Names of assets loaded as style sheets after the gateway's own; default: by role, the style sheets of operators' pages. */
  readonly styles?: readonly string[];
  /** Names of assets that the page loads as scripts: `htmx.js`. */
  readonly scripts?: readonly string[];
  /**
   * Computes the values for the template, formatted for the reader; `refreshSeconds` reloads the page without JavaScript.
   *
   * @returns the values; a Redirect to another page, which htmx loads as a full page; or a Download to send a file
   * @throws PageError
   */
  show(request: PageRequest): Awaitable<Redirect | Download | object>;
  readonly forms?: readonly PageForm[];
  /** Parts that change while the page is open. */
  readonly live?: LiveParts;
}

/** Texts and formats in the reader's language. */
export type Localizer = Pick<PageRequest, 't' | 'format'>;
/** A localizer with the host, for pages that read more while they are described. */
export type PageReader = Pick<PageRequest, 't' | 'format' | 'host'>;

/**
 * Topics that open pages can follow. For the page's account: `requests`, its records; `account`, its key, plan and limits; `orders`.
 * For the gateway: `health`, the states of routes and models. Pages whose role is not `account` follow all accounts.
 */
export const liveTopics = ['requests', 'account', 'orders', 'health'] as const;
export type LiveTopic = (typeof liveTopics)[number];

/**
 * Parts of a page that are sent again when they change. Each tab has one stream, at `<path>/live` with the page's query, which the layout
 * opens. In the template, a part is `<div id="tiles" sse-swap="tiles"><%~ include(…) %></div>`.
 */
export interface LiveParts {
  readonly topics: readonly LiveTopic[];
  /** Interval of additional renderings, for values that depend on the time, such as a rate limit that refills. */
  readonly everySeconds?: number;
  /** Template paths by part, as in `template`. A part is sent when its HTML has changed. */
  readonly parts: Readonly<Record<string, string>>;
  /**
   * Computes the values for these templates; default: calls `show`. Tabs of one session with the same address share them.
   *
   * @returns a Redirect to show another page instead
   * @throws PageError below 500 if the page no longer exists; after any other error, the rendering is retried
   */
  values?(request: PageRequest): Awaitable<Redirect | object>;
}

/**
 * A form of a page, sent by POST. When `submit` is called, the sender has the page's role, the form comes from a page of this gateway and
 * of this browser, and its fields satisfy the schema.
 */
export interface PageForm<S extends JsonSchema = JsonSchema> {
  /** Target path; default: the page's own. */
  readonly path?: string;
  /** Object schema of the fields. Values are converted to its types; undeclared fields are dropped. */
  readonly fields: S;
  /** True: a form is processed once; sending it again is answered with 409. */
  readonly once?: boolean;
  /**
   * Processes the form.
   *
   * @returns a Redirect to the next page, or additional values to show this page again; default: shows it unchanged
   * @throws FieldErrors to show the page again with its input; PageError
   */
  submit(input: Infer<S>, request: PageRequest): Awaitable<Redirect | object | void>;
}

export interface SignedInAccount {
  readonly id: string;
  readonly name: string;
  readonly email: string | undefined;
  readonly avatarUrl: string | undefined;
}

/** Values and errors of a rejected form; empty otherwise. */
export interface FormState {
  readonly values: Readonly<Record<string, string>>;
  /** Error messages by field, in the visitor's language. */
  readonly errors: Readonly<Record<string, string>>;
}

/** A request for a page, as passed to `show` and `submit`. */
export interface PageRequest {
  /** Request id, shown on error pages and logged. */
  readonly id: string;
  readonly host: Host;
  readonly path: string;
  readonly params: Readonly<Record<string, string>>;
  /** The last value of each parameter. */
  readonly query: Readonly<Record<string, string>>;
  readonly language: Language;
  readonly t: Translate;
  /** Formats money, numbers and times for this visitor. */
  readonly format: Formatter;
  /** Signed-in account; always set if the page's role is not `public`. */
  readonly account: SignedInAccount | undefined;
  /** Id of the session; its row is in `session`. */
  readonly sessionId: string | undefined;
  readonly isOperator: boolean;
  /** User-Agent of the browser; '' if it sent none. */
  readonly userAgent: string;
  /** IP address of the client, according to trusted proxies. */
  readonly address: string;
  /** True for a browser on the gateway's own machine, not behind a proxy. */
  readonly isThisMachine: boolean;
  readonly form: FormState;
  /** Returns a form token that is valid for this browser and this path only. */
  formToken(path: string): string;
  /** Stores the visitor's choice in a cookie for a year. It takes effect at the next request. */
  remember(preference: Preference, value: string): void;
  /**
   * Signs the account in with a new session, which replaces the current one.
   *
   * @throws AccountError `not_found` if the account does not have the identity any more
   */
  signIn(accountId: string, identity?: IdentityKey): Promise<void>;
  /** Ends the session. */
  signOut(): Promise<void>;
}

/** Returns the account of a page whose role is not `public`. */
export function accountOf({ account }: PageRequest): SignedInAccount {
  if (account === undefined) throw new Error('no account is signed in; the role of this page is "public"');
  return account;
}

/** Next page after a form: a path of this gateway. */
export class Redirect {
  readonly path: string;

  constructor(path: string) {
    this.path = path;
  }
}

/** A file that the browser saves. */
export class Download {
  /** Consists of letters, digits, `.`, `-` and `_`. */
  readonly fileName: string;
  readonly type: string;
  /** Bytes, or a stream of them, which is destroyed when the client leaves. */
  readonly body: Buffer | Readable;

  constructor(fileName: string, type: string, body: Buffer | Readable) {
    this.fileName = fileName;
    this.type = type;
    this.body = body;
  }
}

/** Thrown by `submit` for invalid input that passes the schema. Holds text keys by field; '' stands for the form as a whole. */
export class FieldErrors extends Error {
  override readonly name = 'FieldErrors';
  readonly fields: Readonly<Record<string, string>>;
  /** Values for the placeholders of the texts. */
  readonly values: Readonly<Record<string, string | number>>;

  constructor(fields: Readonly<Record<string, string>>, values: FieldErrors['values'] = {}) {
    super(`refused: ${Object.keys(fields).join(', ')}`);
    this.fields = fields;
    this.values = values;
  }
}

/** Ties the type of a form's input to its schema. */
export function defineForm<const S extends JsonSchema>(form: PageForm<S>): PageForm {
  return form;
}

/** A folder of files, or one file, that browsers load from `/assets`. Templates get its URL from `it.asset(name)`. */
export interface AssetSource {
  /** For a file, its name: `htmx.js`. For a folder, the prefix of the names of its files: `dashboard`. */
  readonly name: string;
  /** Absolute, or relative to `views/`, as in `template`. */
  readonly path: string;
}

/** A page's entry in the layout of its role. */
export interface Navigation {
  /** Key of a text. */
  readonly label: string;
  /** Icon in the bar at the bottom of phones. */
  readonly icon?: IconName;
  /** Path of the preceding entry, such as `/dashboard/requests`. If that entry is not listed, `order` decides. */
  readonly after?: string;
  /** Ascending; default: 100. */
  readonly order?: number;
  /** `main`, the default: in the header. `menu`: in the menu of the account. */
  readonly place?: 'main' | 'menu';
  /** False: omitted from the bar at the bottom of phones, because the account's page contains it. */
  readonly isInBar?: boolean;
  /** Target path; default: the page's own. For parts of a page: `/#plans`. */
  readonly path?: string;
  /** Paths of pages outside its own path for which the entry is current as well. */
  readonly covers?: readonly string[];
}
