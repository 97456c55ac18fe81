import type { Readable } from 'node:stream';
import type { Limits } from '#core/platform/shared/shared.ts';
import { PageError } from '#core/web/pages/page-error.ts';
import { accountOf, Download, type Page, type PageRequest } from '#core/web/pages/page.ts';
import { createRouteNames, type RouteNames } from '../../route-names.ts';
import { createFilter, parseQuery, requestsPath } from '../query.ts';
import { streamExport, type RecordRenderer } from './export-stream.ts';
import { renderCsvHeading, renderCsvLine, renderJsonLine } from './exported-request.ts';

const exportLimits: Limits = { limit: 10, period: 600, burst: 5, concurrent: 1 }; // per account; an export reads all of its records

interface ExportFormat {
  readonly extension: string;
  readonly type: string;
  createWriter(routes: RouteNames): RecordRenderer;
}

const csv: ExportFormat = {
  extension: 'csv',
  type: 'text/csv; charset=utf-8; header=present',
  createWriter: (routes) => ({
    // Without the byte order mark, spreadsheets assume a legacy character set. Scripts can use JSON Lines.
    head: `\uFEFF${renderCsvHeading(routes)}`,
    render: (record) => renderCsvLine(record, routes),
  }),
};

const jsonl: ExportFormat = {
  extension: 'jsonl',
  type: 'application/jsonl; charset=utf-8',
  createWriter: (routes) => ({ head: '', render: (record) => renderJsonLine(record, routes) }),
};

export const exportPages: readonly Page[] = [csv, jsonl].map(createExportPage);

function createExportPage(format: ExportFormat): Page {
  return {
    path: `${requestsPath}.${format.extension}`,
    role: 'account',
    title: 'requests.title',
    async show(request) {
      const { host } = request;
      const { id } = accountOf(request);
      const now = host.now();
      const filter = createFilter(parseQuery(request.query), id, now);
      const body = await openWithinLimits(request, id, () =>
        streamExport(host, filter, format.createWriter(createRouteNames(request))),
      );
      const day = new Date(now).toISOString().slice(0, 10);
      return new Download(`${host.service.slug}-requests-${day}.${format.extension}`, format.type, body);
    },
  };
}

async function openWithinLimits(
  { host: { shared } }: PageRequest,
  accountId: string,
  open: () => Promise<Readable>,
): Promise<Readable> {
  const key = `export:${accountId}`;
  const { refusedBy, lease } = await shared.limiter.take(key, exportLimits);
  if (refusedBy !== undefined)
    throw new PageError(429, `requests.export.${refusedBy}`, {
      action: { path: requestsPath, label: 'requests.back' },
    });
  const release = () => {
    if (lease !== undefined) shared.limiter.release(key, lease);
  };
  try {
    return (await open()).once('close', release);
  } catch (error) {
    release();
    throw error;
  }
}
