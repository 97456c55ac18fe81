import type { ListedModel } from '#core/config/catalog/catalog.ts';
import { GatewayError } from '#core/platform/errors/table.ts';

interface WantedPage {
  /** Undefined for all models. */
  readonly size: number | undefined;
  /** Name of the model directly before or after the page. */
  readonly after: Cursor | undefined;
  readonly before: Cursor | undefined;
}

interface Cursor {
  readonly parameter: string;
  readonly name: string;
}

const most = 1_000;

/**
 * Reads the parameters about pages.
 *
 * @param names names of the parameters in the client's format
 * @throws GatewayError `invalid_request`
 */
export function readWanted(
  query: URLSearchParams,
  names: { readonly size: string; readonly after: string; readonly before?: string },
): WantedPage {
  const cursor = (parameter: string | undefined): Cursor | undefined => {
    const name = parameter === undefined ? null : query.get(parameter);
    return parameter === undefined || name === null || name === '' ? undefined : { parameter, name };
  };
  return { size: readSize(query, names.size), after: cursor(names.after), before: cursor(names.before) };
}

function readSize(query: URLSearchParams, parameter: string): number | undefined {
  const text = query.get(parameter);
  if (text === null || text === '') return undefined;
  const size = /^\d{1,9}$/.test(text) ? Number(text) : 0;
  if (size > 0) return Math.min(size, most);
  throw new GatewayError('invalid_request', `\`${parameter}\` must be an integer from 1 to ${most}.`, {
    param: parameter,
  });
}

/** @throws GatewayError `invalid_request` for a cursor that is not in the list */
export function pageOf(
  models: readonly ListedModel[],
  { size = models.length, after, before }: WantedPage,
): { readonly page: readonly ListedModel[]; readonly hasMore: boolean } {
  const begin = after === undefined ? 0 : placeOf(models, after) + 1;
  const end = before === undefined ? models.length : placeOf(models, before);
  const range = models.slice(begin, end);
  // With `before`, the page ends directly before that model.
  const page = before === undefined ? range.slice(0, size) : range.slice(-size);
  return { page, hasMore: page.length < range.length };
}

function placeOf(models: readonly ListedModel[], { parameter, name }: Cursor): number {
  const place = models.findIndex((model) => model.name === name);
  if (place !== -1) return place;
  throw new GatewayError('invalid_request', `\`${parameter}\` must be the id of a listed model.`, { param: parameter });
}
