import type { Host } from '#core/gateway/host/host.ts';
import { noteFailure } from '#core/platform/background.ts';
import { withDeadline } from '#core/platform/timing/deadline.ts';
import type { Language } from '../texts/texts.ts';
import type { PageRequest } from './page.ts';

const readTimeoutMs = 3_000;

/** `all`: everyone, including visitors; on the status page and in its JSON. `customers`: signed-in accounts, on their home page. */
export type NoticeReaders = 'all' | 'customers';

/** A notice for `parts/flash`, with texts in the reader's language. */
export interface Notice {
  readonly kind: 'ok' | 'info' | 'warn';
  readonly title: string;
  readonly text?: string;
  /** A link after the text. */
  readonly action?: { readonly path: string; readonly label: string } | undefined;
  /** True if it concerns the reader's own account; the home page then shows it below the pending tasks. */
  readonly isOwn?: boolean;
}

/** A source of temporary notices for customers, shown at the top of the status page and of their home page. */
export interface NoticeSource {
  /** Unique name in snake_case; also the member of `/status.json` that lists these notices, unless the file already has such a member. */
  readonly name: string;
  /**
   * Returns the notices at `now` (epoch ms), in order; set `isOwn` only for customers. If this rejects or takes over 3 s, the page is shown
   * without them.
   */
  show(request: PageRequest, now: number, readers: NoticeReaders): Promise<readonly Notice[]>;
  /** Returns the public notices for `/status.json`; if this rejects, the list is empty. Omit it if the source has no public notices. */
  readonly toJson?: (host: Host, language: Language) => Promise<readonly object[]>;
}

type NoticeSources = ReadonlyMap<string, NoticeSource>;

export async function collectNotices(
  sources: NoticeSources,
  request: PageRequest,
  now: number,
  readers: NoticeReaders,
): Promise<Notice[]> {
  const readings = Array.from(sources.values(), (source) =>
    readOrSkip(request.host, source, () => source.show(request, now, readers)),
  );
  return (await Promise.all(readings)).flat();
}

async function readOrSkip<T>(
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

/** Returns the public notices for `/status.json`, with one member per source. */
export async function noticesToJson(
  sources: NoticeSources,
  host: Host,
  language: Language,
): Promise<Readonly<Record<string, readonly object[]>>> {
  const members = Array.from(sources.values(), async (source) => {
    const { name, toJson } = source;
    return toJson === undefined ? [] : [[name, await readOrSkip(host, source, () => toJson(host, language))] as const];
  });
  return Object.fromEntries((await Promise.all(members)).flat());
}
