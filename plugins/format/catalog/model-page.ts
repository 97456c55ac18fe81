import type { ListedModel } from '#core/config/catalog/catalog.ts';
import { GatewayError } from '#core/platform/errors/table.ts';

interface Cursor {
  readonly parameter: string;
  readonly name: string;
}

interface PageSelection {
  readonly size: number | undefined; // undefined for all models
  readonly after: Cursor | undefined;
  readonly before: Cursor | undefined;
}

const maxPageSize = 1_000;

/** @throws GatewayError `invalid_request` */
export function readPageSelection(
  query: URLSearchParams,
  names: { readonly size: string; readonly after: string; readonly before?: string },
): PageSelection {
  return {
    size: readSize(query, names.size),
    after: readCursor(query, names.after),
    before: names.before === undefined ? undefined : readCursor(query, names.before),
  };
}

function readCursor(query: URLSearchParams, parameter: string): Cursor | undefined {
  const name = query.get(parameter);
  return name === null || name === '' ? undefined : { parameter, name };
}

function readSize(query: URLSearchParams, parameter: string): number | undefined {
  const text = query.get(parameter);
  if (text === null || text === '') return undefined;
  const size = /^\d{1,9}$/.test(text) ? Number(text) : 0;
  if (size > 0) return Math.min(size, maxPageSize);
  throw new GatewayError('invalid_request', `\`${parameter}\` must be an integer from 1 to ${maxPageSize}.`, {
    param: parameter,
  });
}

/** @throws GatewayError `invalid_request` if a cursor is not in the list */
export function selectPage(
  models: readonly ListedModel[],
  { size = models.length, after, before }: PageSelection,
): { readonly page: readonly ListedModel[]; readonly hasMore: boolean } {
  const start = after === undefined ? 0 : findCursorIndex(models, after) + 1;
  const end = before === undefined ? models.length : findCursorIndex(models, before);
  const range = models.slice(start, end);
  // With `before`, the page ends directly before that model.
  const page = before === undefined ? range.slice(0, size) : range.slice(-size);
  return { page, hasMore: page.length < range.length };
}

function findCursorIndex(models: readonly ListedModel[], { parameter, name }: Cursor): number {
  const index = models.findIndex((model) => model.name === name);
  if (index !== -1) return index;
  throw new GatewayError('invalid_request', `\`${parameter}\` must be the id of a listed model.`, { param: parameter });
}
