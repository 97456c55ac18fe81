import type { Host } from '#core/gateway/host/host.ts';
import { noteFailure } from '#core/platform/background.ts';
import { withDeadline } from '#core/platform/timing/deadline.ts';
import type { Language } from '../texts/texts.ts';
import type { PageRequest } from './page.ts';

const readTimeoutMs = 3_000;

/** `all`: everyone, visitors included, on the status page and in its JSON. `customers`: signed-in accounts, on their home page. */
export type NoticeReaders = 'all' | 'customers';

/** A notice for `parts/flash`, with texts in the reader's language. */
export interface Notice {
  readonly kind: 'ok' | 'info' | 'warn';
  readonly title: string;
  readonly text?: string;
  /** A link after the text. */
  readonly action?: { readonly path: string; readonly label: string } | undefined;
  /** True: it is about the account that reads it; the home page shows it below the pending tasks. */
  readonly isOwn?: boolean;
}

/** Temporary notices to customers, at the top of the status page and of their home page. */
export interface NoticeSource {
  /** Unique and in snake_case: the member of `/status.json` that lists its notices, unless that has another member with this name. */
  readonly name: string;
  /**
   * Notices to show now, in order; `isOwn` ones only for customers. If it rejects or takes over 3 s, the page is shown without them.
   *
   * @param now epoch ms
   */
  show(request: PageRequest, now: number, readers: NoticeReaders): Promise<readonly Notice[]>;
  /** Public notices for `/status.json`; none if it rejects. Omitted if none is public: then the member does not exist. */
  readonly toJson?: (host: Host, language: Language) => Promise<readonly object[]>;
}

type NoticeSources = ReadonlyMap<string, NoticeSource>;

/** Collects the notices of all sources. */
export async function showNotices(
  sources: NoticeSources,
  request: PageRequest,
  now: number,
  readers: NoticeReaders,
): Promise<Notice[]> {
  const shown = Array.from(sources.values(), (source) =>
    orNone(request.host, source, () => source.show(request, now, readers)),
  );
  return (await Promise.all(shown)).flat();
}

/** A plugin that fails to read its notices does not break the page. */
async function orNone<T>(
  { log }: Pick<Host, 'log'>,
  { name }: NoticeSource,
  read: () => Promise<readonly T[]>,
): Promise<readonly T[]> {
  try {
    return await withDeadline(read(), readTimeoutMs, `no answer within ${readTimeoutMs} ms`);
  } catch (error) {
    noteFailure(log, `reading the notices "${name}"`, error);
    return [];
  }
}

/** Returns the public notices for `/status.json`, with a member for each source. */
export async function noticesToJson(
  sources: NoticeSources,
  host: Host,
  language: Language,
): Promise<Readonly<Record<string, readonly object[]>>> {
  const members = Array.from(sources.values(), async (source) => {
    const { name, toJson } = source;
    return toJson === undefined ? [] : [[name, await orNone(host, source, () => toJson(host, language))] as const];
  });
  return Object.fromEntries((await Promise.all(members)).flat());
}
