import { formatMoney } from '#core/business/accounts/money.ts';
import { currencySection } from '#core/business/accounts/plans.ts';
import type { Host } from '#core/gateway/host/host.ts';
import { formatCsvLine } from '#core/platform/csv.ts';
import { formatLocalTime } from '#core/platform/timing/time-zone.ts';
import { type BookDay, readMonth, sumDays } from './monthly-books.ts';
import { type MonthReceipts, type PrintedReceipts, describeReceipts, readMonthReceipts } from './receipt-lines.ts';
import { describeYear, readYearSoFar, type YearSoFar } from './year-so-far.ts';

export const taxTimeZone = 'Asia/Jakarta'; // the tax office counts days in Jakarta time

interface MonthDocument {
  readonly seller: string;
  readonly month: string; // 2026-11
  readonly timeZone: string;
  readonly currency: string;
  readonly days: readonly BookDay[];
  readonly madeAt: Date;
  readonly receipts?: MonthReceipts | undefined; // undefined if the shop does not store receipts
  readonly year?: YearSoFar;
}

export async function readMonthDocument(
  { database, section, service, now }: Pick<Host, 'database' | 'section' | 'service' | 'now'>,
  month: string,
  timeZone: string,
): Promise<MonthDocument> {
  const currency = section(currencySection);
  const days = await readMonth(database, { month, timeZone, currency });
  const receipts = await readMonthReceipts(database, days, { timeZone, currency });
  const year = await readYearSoFar(database, { month, timeZone, currency });
  return { seller: service.name, month, timeZone, currency, days, madeAt: new Date(now()), receipts, year };
}

/** Future days would show zeros. */
function selectStartedDays({ days, madeAt, timeZone }: MonthDocument): readonly BookDay[] {
  const today = formatLocalTime(madeAt, timeZone).day;
  const lastMoved = days.findLast(({ payments, refunds }) => payments + refunds > 0)?.day ?? '';
  return days.filter(({ day }) => day <= today || day <= lastMoved);
}

export function monthToCsv(document: MonthDocument): string[] {
  const { currency } = document;
  const days = selectStartedDays(document);
  const heading = formatCsvLine(['day', 'payments', 'gross', 'refunds', 'refunded', 'net', 'fees', 'currency']);
  return [
    heading,
    ...[...days, sumDays(days, 'total')].map(({ day, payments, gross, refunds, refunded, fees }) =>
      formatCsvLine([day, payments, gross, refunds, refunded, gross - refunded, fees, currency]),
    ),
  ];
}

interface PrintedMonth {
  readonly title: string;
  readonly about: string;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
  readonly total: readonly string[];
  readonly note: string;
  readonly year: string; // turnover from the start of the year to the end of the month
  readonly receipts: PrintedReceipts | undefined;
}

export function describeMonth(document: MonthDocument): PrintedMonth {
  const { seller, month, timeZone, currency, madeAt, year, receipts } = document;
  const days = selectStartedDays(document);
  const row = ({ day, payments, gross, refunds, refunded, fees }: BookDay) => {
    const [received = '', returned = '', net = '', fee = ''] = [gross, refunded, gross - refunded, fees].map((amount) =>
      formatMoney(amount, currency),
    );
    return [day, String(payments), received, String(refunds), returned, net, fee];
  };
  return {
    title: `Rekapitulasi peredaran bruto ${formatMonth(month)}${isOver(document) ? '' : ' (sementara)'}`,
    about: `${seller}. Waktu: ${timeZone}. Mata uang: ${currency}. Dibuat: ${formatTime(madeAt, timeZone)}.`,
    columns: ['Tanggal', 'Transaksi', 'Bruto', 'Refund', 'Dikembalikan', 'Neto', 'Biaya penyedia'],
    rows: days.map(row),
    total: row(sumDays(days, 'Jumlah')),
    note: 'Biaya penyedia hanya yang diketahui dari pembukuan penyedia.',
    year: year === undefined ? '' : describeYear(year, month, currency),
    receipts: receipts && describeReceipts(receipts, timeZone, currency),
  };
}

export function monthToHtml(document: MonthDocument): string {
  const { title, about, columns, rows, total, note, year, receipts } = describeMonth(document);
  return `<!doctype html>
<html lang="id"><meta charset="utf-8"><title>${escapeHtml(title)}</title>
<style>
  @page { size: A4; margin: 15mm }
  body { font: 10pt/1.3 system-ui, sans-serif; color: #000; background: #fff; max-width: 180mm; margin: 0 auto }
  h1 { font-size: 14pt; margin: 0 0 2mm }
  h2 { font-size: 12pt; margin: 6mm 0 2mm }
  table { width: 100%; border-collapse: collapse; font-variant-numeric: tabular-nums }
  th, td { padding: 0.8mm 1.5mm; border-bottom: 0.2mm solid #999; text-align: right }
  th:first-child, td:first-child { text-align: left }
  tfoot td { font-weight: 700; border-top: 0.5mm solid #000 }
</style>
<h1>${escapeHtml(title)}</h1>
<p>${escapeHtml(about)}</p>
${renderTable({ columns, rows, total })}
<p>${escapeHtml(note)}</p>${year === '' ? '' : `\n<p>${escapeHtml(year)}</p>`}${receipts === undefined ? '' : `\n${renderReceipts(receipts)}`}
</html>`;
}

function renderTable({ columns, rows, total }: Pick<PrintedMonth, 'columns' | 'rows' | 'total'>): string {
  return `<table>
<thead>${renderRow(columns, 'th')}</thead>
<tbody>
${rows.map((cells) => renderRow(cells)).join('\n')}
</tbody>
<tfoot>${renderRow(total)}</tfoot>
</table>`;
}

function renderRow(cells: readonly string[], tag = 'td'): string {
  return `<tr>${cells.map((cell) => `<${tag}>${escapeHtml(cell)}</${tag}>`).join('')}</tr>`;
}

function renderReceipts(receipts: PrintedReceipts): string {
  const { title, sellers } = receipts;
  return `<h2>${escapeHtml(title)}</h2>${sellers === '' ? '' : `\n<p>Penjual: ${escapeHtml(sellers)}.</p>`}\n${renderTable(receipts)}`;
}

function isOver({ days, madeAt, timeZone }: MonthDocument): boolean {
  return (days.at(-1)?.day ?? '') < formatLocalTime(madeAt, timeZone).day;
}

function formatTime(time: Date, timeZone: string): string {
  return new Intl.DateTimeFormat('id', { dateStyle: 'long', timeStyle: 'short', timeZone }).format(time);
}

function formatMonth(month: string): string {
  const format = new Intl.DateTimeFormat('id', { month: 'long', year: 'numeric', timeZone: 'UTC' });
  return format.format(new Date(`${month}-01T00:00:00Z`));
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);
}
