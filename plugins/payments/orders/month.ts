import { formatMoney } from '#core/business/accounts/money.ts';
import { type BookDay, sumOf } from '#core/business/payments/monthly-books.ts';
import { csvLine } from '#core/extension/commands/csv.ts';

/** What a document of one month is about. */
export interface MonthDocument {
  readonly seller: string;
  readonly month: string; // 2026-11
  readonly timeZone: string;
  readonly currency: string;
  readonly days: readonly BookDay[];
}

/** Lines of CSV: each day, then the month. */
export function monthToCsv({ month, currency, days }: MonthDocument): string[] {
  const heading = csvLine(['day', 'payments', 'gross', 'refunds', 'refunded', 'net', 'fees', 'currency']);
  return [
    heading,
    ...[...days, sumOf(days, month)].map(({ day, payments, gross, refunds, refunded, fees }) =>
      csvLine([day, payments, gross, refunds, refunded, gross - refunded, fees, currency]),
    ),
  ];
}

/** One page to print or to save as PDF, in the language of the tax office. */
export function monthToHtml(document: MonthDocument): string {
  const { seller, month, timeZone, currency, days } = document;
  const title = `Rekapitulasi peredaran bruto ${nameOf(month)}`;
  const total = sumOf(days, 'Jumlah');
  const row = ({ day, payments, gross, refunds, refunded, fees }: BookDay) => {
    const cells = [gross, refunded, gross - refunded, fees].map((amount) => formatMoney(amount, currency));
    const [came, back, net, fee] = cells.map(escape);
    return `<tr><td>${escape(day)}</td><td>${payments}</td><td>${came}</td><td>${refunds}</td><td>${back}</td><td>${net}</td><td>${fee}</td></tr>`;
  };
  return `<!doctype html>
<html lang="id"><meta charset="utf-8"><title>${escape(title)}</title>
<style>
  @page { size: A4; margin: 15mm }
  body { font: 10pt/1.3 system-ui, sans-serif; color: #000; background: #fff; max-width: 180mm; margin: 0 auto }
  h1 { font-size: 14pt; margin: 0 0 2mm }
  table { width: 100%; border-collapse: collapse; font-variant-numeric: tabular-nums }
  th, td { padding: 0.8mm 1.5mm; border-bottom: 0.2mm solid #999; text-align: right }
  th:first-child, td:first-child { text-align: left }
  tfoot td { font-weight: 700; border-top: 0.5mm solid #000 }
</style>
<h1>${escape(title)}</h1>
<p>${escape(seller)}. Waktu: ${escape(timeZone)}. Mata uang: ${escape(currency)}.</p>
<table>
<thead><tr><th>Tanggal</th><th>Transaksi</th><th>Bruto</th><th>Refund</th><th>Dikembalikan</th><th>Neto</th><th>Biaya penyedia</th></tr></thead>
<tbody>
${days.map(row).join('\n')}
</tbody>
<tfoot>${row(total)}</tfoot>
</table>
<p>Biaya penyedia hanya yang diketahui dari pembukuan penyedia.</p>
</html>`;
}

function nameOf(month: string): string {
  const format = new Intl.DateTimeFormat('id', { month: 'long', year: 'numeric', timeZone: 'UTC' });
  return format.format(new Date(`${month}-01T00:00:00Z`));
}

function escape(text: string): string {
  return text.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);
}
