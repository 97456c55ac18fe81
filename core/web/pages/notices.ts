import type { Host } from '#core/gateway/host/host.ts';
import type { Language } from '../texts/texts.ts';
import type { PageRequest } from './page.ts';

/** `all`: also visitors, on the status page and in its JSON. `customers`: accounts that are signed in, on their home page. */
export type NoticeReaders = 'all' | 'customers';

/** A notice for `parts/flash`, its texts ready to be printed. */
export interface Notice {
  readonly kind: 'info' | 'warn';
  readonly title: string;
  readonly text?: string;
}

/** What customers are told for a while, at the top of the status page and of their home page. */
export interface NoticeSource {
  /** Unique and in snake_case: the member of `/status.json` that lists its notices. */
  readonly name: string;
  /** Those to be shown now, in their order. Does not reject. @param now epoch ms */
  show(request: PageRequest, now: number, readers: NoticeReaders): Promise<readonly Notice[]>;
  /** The public ones for `/status.json`. Does not reject. */
  toJson(host: Host, language: Language): Promise<readonly object[]>;
}

/** Sources by name. */
export type NoticeSources = ReadonlyMap<string, NoticeSource>;

/** The notices of all sources. */
export async function showNotices(
  sources: NoticeSources,
  request: PageRequest,
  now: number,
  readers: NoticeReaders,
): Promise<Notice[]> {
  return (await Promise.all([...sources.values()].map((source) => source.show(request, now, readers)))).flat();
}

/** The same for `/status.json`: a member for each source. */
export async function noticesToJson(
  sources: NoticeSources,
  host: Host,
  language: Language,
): Promise<Readonly<Record<string, readonly object[]>>> {
  return Object.fromEntries(
    await Promise.all(
      Array.from(sources.values(), async (source) => [source.name, await source.toJson(host, language)] as const),
    ),
  );
}
