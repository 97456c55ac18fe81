import { listMovements, type Movement } from '#core/business/payments/movements.ts';
import { service } from '#core/config/sections/core-sections.ts';
import { dayRangeToTimes } from '#core/platform/database/day-range.ts';
import { isDay, isMonth } from '#core/platform/timing/time-zone.ts';
import { PageError } from '#core/web/pages/page-error.ts';
import { Download, type Page } from '#core/web/pages/page.ts';
import { streamFile } from '#core/web/pages/stream-file.ts';
import { BooksCsv } from './books-csv.ts';
import { monthToCsv, describeMonth, readMonthDocument, taxTimeZone } from './month-document.ts';
import { booksPath } from './page.ts';
import { receiptsToCsv } from './receipt-lines.ts';

const csvType = 'text/csv; charset=utf-8; header=present';
const byteOrderMark = '\uFEFF'; // without it, spreadsheets assume a legacy character set

/** `?since=2026-11-01&until=2026-11-30` */
export const booksFile: Page = {
  path: `${booksPath}.csv`,
  role: 'operator',
  title: 'operator.books',
  async show({ host, query }) {
    const { since = '', until = since } = query;
    if (!isDay(since) || !isDay(until) || since > until) throw createInvalidQuery('operator.books_span');
    const { time_zone: zone } = host.section(service);
    const span = await dayRangeToTimes(host.database, zone, since, until);
    const lines = renderLines(listMovements(host.database, span), new BooksCsv(zone, true));
    const name = [host.service.slug, since, ...(until === since ? [] : [until])].join('-');
    return new Download(`${name}.csv`, csvType, streamFile(host.log, 'an export of the books', lines));
  },
};

const joinLines = (lines: readonly string[]) => lines.map((line) => `${line}\r\n`).join('');

async function* renderLines(movements: AsyncIterable<Movement>, books: BooksCsv): AsyncGenerator<string> {
  yield byteOrderMark + joinLines([books.head]);
  for await (const movement of movements) yield joinLines(books.renderMovement(movement));
  yield joinLines(books.renderTotals());
}

/** `?month=2026-11`; `&as=csv` and `&as=receipts` return files. */
export const monthPage: Page = {
  path: `${booksPath}/month`,
  role: 'operator',
  title: 'operator.books_month_title',
  template: 'books/month.eta',
  styles: ['operator.css', 'books/month.css'],
  async show({ host, query }) {
    const { month = '' } = query;
    if (!isMonth(month)) throw createInvalidQuery('operator.books_month_invalid');
    const document = await readMonthDocument(host, month, taxTimeZone);
    if (query['as'] === 'csv') {
      const text = [...monthToCsv(document), ''].join('\r\n');
      return new Download(`${host.service.slug}-${month}.csv`, csvType, Buffer.from(byteOrderMark + text));
    }
    if (query['as'] === 'receipts') {
      const { receipts, timeZone, currency } = document;
      if (receipts === undefined) throw createInvalidQuery('operator.books_no_receipts');
      const text = [...receiptsToCsv(receipts, timeZone, currency), ''].join('\r\n');
      return new Download(`${host.service.slug}-${month}-receipts.csv`, csvType, Buffer.from(byteOrderMark + text));
    }
    return {
      month,
      receiptsPath: document.receipts === undefined ? '' : `${booksPath}/month?month=${month}&as=receipts`,
      back: booksPath,
      csvPath: `${booksPath}/month?month=${month}&as=csv`,
      document: describeMonth(document),
    };
  },
};

function createInvalidQuery(text: string): PageError {
  return new PageError(400, text, { action: { path: booksPath, label: 'operator.books' } });
}
