import { formatMoney } from '#core/business/accounts/money.ts';
import { type ReceiptLine, loadReceiptSteps } from '#core/business/payments/receipts.ts';
import { formatCsvLine } from '#core/platform/csv.ts';
import type { Queries, Transactions } from '#core/platform/database/database.ts';
import { dayRangeToTimes } from '#core/platform/database/day-range.ts';
import { formatLocalTime } from '#core/platform/timing/time-zone.ts';
import type { BookDay } from './monthly-books.ts';

/** Refunds have negative amounts. */
export interface MonthReceipts {
  readonly lines: readonly ReceiptLine[];
  /** Money of the month that has no receipt because the shop did not store receipts yet. */
  readonly unnumbered: { readonly count: number; readonly gross: number };
}

export async function readMonthReceipts(
  database: Queries & Transactions,
  days: readonly BookDay[],
  { timeZone, currency }: { readonly timeZone: string; readonly currency: string },
): Promise<MonthReceipts | undefined> {
  const steps = await loadReceiptSteps(database);
  const { since, until } = await dayRangeToTimes(database, timeZone, days[0]?.day, days.at(-1)?.day);
  if (steps === undefined || since === undefined || until === undefined) return undefined;
  const receiptLines = await steps.listReceiptLines(database, { since, until, currency });
  if (receiptLines === undefined) return undefined;
  const lines = receiptLines.map((line) => (line.kind === 'refund' ? negate(line) : line));
  const sum = (select: (day: BookDay) => number) => days.reduce((total, day) => total + select(day), 0);
  return {
    lines,
    unnumbered: {
      count: sum(({ payments, refunds }) => payments + refunds) - lines.length,
      gross: sum(({ gross, refunded }) => gross - refunded) - lines.reduce((total, { gross }) => total + gross, 0),
    },
  };
}

function negate(line: ReceiptLine): ReceiptLine {
  const { gross, withoutTax, tax, taxBase } = line;
  return { ...line, gross: -gross, withoutTax: -withoutTax, tax: -tax, taxBase: taxBase && -taxBase };
}

/**
 * Returns CSV lines: each receipt, then the money without receipts, then the sum. The gross of the sum equals the net of the monthly books.
 * The tax on money without receipts is unknown, so the sum's other amounts cover receipts only.
 */
export function receiptsToCsv({ lines, unnumbered }: MonthReceipts, timeZone: string, currency: string): string[] {
  const { gross, withoutTax, tax, taxBase } = sumLines(lines);
  return [
    formatCsvLine([
      'date',
      'number',
      'code',
      'buyer',
      'npwp',
      'gross',
      'without_tax',
      'tax',
      'refund_of',
      'seller',
      'currency',
      'tax_base',
    ]),
    ...lines.map((line) =>
      formatCsvLine([
        formatLocalTime(line.at, timeZone).day,
        line.number,
        line.code,
        line.buyer,
        line.npwp,
        line.gross,
        line.withoutTax,
        line.tax,
        line.refundOf,
        line.seller,
        currency,
        line.taxBase,
      ]),
    ),
    ...(unnumbered.count === 0
      ? []
      : [formatCsvLine(['without receipt', '', '', '', '', unnumbered.gross, '', '', '', '', currency, ''])]),
    formatCsvLine(['total', '', '', '', '', gross + unnumbered.gross, withoutTax, tax, '', '', currency, taxBase]),
  ];
}

export interface PrintedReceipts {
  readonly title: string;
  readonly sellers: string;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
  readonly total: readonly string[];
}

export function describeReceipts(
  { lines, unnumbered }: MonthReceipts,
  timeZone: string,
  currency: string,
): PrintedReceipts {
  const money = (amount: number) => formatMoney(amount, currency);
  const { gross, withoutTax, tax, taxBase } = sumLines(lines);
  // A shop that states no tax gets no tax columns.
  const hasTax = lines.some((line) => line.tax !== 0);
  const amounts = (sum: number, ...parts: readonly string[]) => [money(sum), ...(hasTax ? parts : [])];
  return {
    title: 'Bukti pembayaran menurut nomor',
    sellers: [...new Set(lines.map(({ seller }) => seller))].join('; '),
    columns: [
      'Tanggal',
      'Nomor',
      'Pesanan',
      'Pembeli',
      'NPWP',
      'Bruto',
      ...(hasTax ? ['Tanpa pajak', 'Dasar', 'Pajak'] : []),
      'Refund',
    ],
    rows: [
      ...lines.map((line) => [
        formatLocalTime(line.at, timeZone).day,
        line.number ?? '–',
        line.code,
        line.buyer,
        line.npwp ?? '',
        ...amounts(
          line.gross,
          money(line.withoutTax),
          line.taxBase === undefined ? '–' : money(line.taxBase),
          money(line.tax),
        ),
        line.refundOf ?? '',
      ]),
      ...(unnumbered.count === 0
        ? []
        : [['Tanpa bukti', '', '', '', '', ...amounts(unnumbered.gross, '–', '–', '–'), '']]),
    ],
    total: [
      'Jumlah',
      '',
      '',
      '',
      '',
      ...amounts(gross + unnumbered.gross, money(withoutTax), money(taxBase), money(tax)),
      '',
    ],
  };
}

function sumLines(lines: readonly ReceiptLine[]) {
  return lines.reduce(
    (sum, line) => ({
      gross: sum.gross + line.gross,
      withoutTax: sum.withoutTax + line.withoutTax,
      tax: sum.tax + line.tax,
      taxBase: sum.taxBase + (line.taxBase ?? 0),
    }),
    { gross: 0, withoutTax: 0, tax: 0, taxBase: 0 },
  );
}
