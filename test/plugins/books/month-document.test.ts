import { describe, expect, it } from 'vitest';
import { monthToCsv, monthToHtml, describeMonth } from '../../../plugins/books/month-document.ts';
import { describeReceipts, receiptsToCsv } from '../../../plugins/books/receipt-lines.ts';
import { describeYear } from '../../../plugins/books/year-so-far.ts';

const nothing = { payments: 0, gross: 0, refunds: 0, refunded: 0, fees: 0 };
const days = ['2026-02-26', '2026-02-27', '2026-02-28'].map((day) => ({ day, ...nothing }));
const documentOf = (madeAt: string, paidOn = '2026-02-26') => ({
  seller: 'Daypass <&>',
  month: '2026-02',
  timeZone: 'Asia/Jakarta',
  currency: 'IDR',
  days: days.map((one) => (one.day === paidOn ? { ...one, payments: 1, gross: 95_000, fees: 665 } : one)),
  madeAt: new Date(madeAt),
});

const noted = (gross: number) => describeYear({ gross, refunded: 0 }, '2026-02', 'IDR').match(/Catatan/g)?.length ?? 0;

describe('the document of a month', () => {
  it('has no days that are still to come, and says that it is not final and when it was made', () => {
    // In Jakarta the 27th has begun.
    const { title, about, rows, total } = describeMonth(documentOf('2026-02-26T17:30:00Z'));
    expect(title).toBe('Rekapitulasi peredaran bruto Februari 2026 (sementara)');
    expect(about).toMatch(/Dibuat: 27 Februari 2026 pukul 00\.30\.$/);
    expect(rows.map(([day]) => day)).toEqual(['2026-02-26', '2026-02-27']);
    expect(total.slice(0, 2)).toEqual(['Jumlah', '1']);
  });

  it('is final with the first moment of the next month', () => {
    expect(describeMonth(documentOf('2026-02-28T16:59:59Z')).title).toMatch(/ \(sementara\)$/);
    expect(describeMonth(documentOf('2026-02-28T17:00:00Z')).title).toBe('Rekapitulasi peredaran bruto Februari 2026');
  });

  it('leaves no money out, even of a day that has not begun by this clock', () => {
    expect(monthToCsv(documentOf('2026-02-01T00:00:00Z', '2026-02-27'))).toEqual([
      'day,payments,gross,refunds,refunded,net,fees,currency',
      '2026-02-26,0,0,0,0,0,0,IDR',
      '2026-02-27,1,95000,0,0,95000,665,IDR',
      'total,1,95000,0,0,95000,665,IDR',
    ]);
  });

  it('has one line for each receipt, what has none, and their sum, which is the net of the days', () => {
    const line = { seller: 'PT A', at: new Date('2026-02-26T05:00:00Z'), code: 'ORD-1', buyer: 'Ani', npwp: undefined };
    const payment = {
      ...line,
      kind: 'payment' as const,
      number: '000007',
      gross: 289_000,
      withoutTax: 260_360,
      tax: 28_640,
      taxBase: 238_663,
      refundOf: undefined,
    };
    const refund = {
      ...line,
      kind: 'refund' as const,
      number: 'R-000001',
      gross: -89_000,
      withoutTax: -80_180,
      tax: -8_820,
      taxBase: -73_498,
      refundOf: '000007',
    };
    const receipts = { lines: [payment, refund], unnumbered: { count: 1, gross: 95_000 } };
    expect(receiptsToCsv(receipts, 'Asia/Jakarta', 'IDR')).toEqual([
      'date,number,code,buyer,npwp,gross,without_tax,tax,refund_of,seller,currency,tax_base',
      "2026-02-26,'000007,ORD-1,Ani,,289000,260360,28640,,PT A,IDR,238663",
      "2026-02-26,R-000001,ORD-1,Ani,,-89000,-80180,-8820,'000007,PT A,IDR,-73498",
      'without receipt,,,,,95000,,,,,IDR,',
      'total,,,,,295000,180180,19820,,,IDR,165165',
    ]);
    expect(monthToHtml({ ...documentOf('2026-03-01T00:00:00Z'), receipts })).toContain('<td>R-000001</td>');
    expect(describeReceipts(receipts, 'Asia/Jakarta', 'IDR').rows.at(-1)?.slice(-5, -1)).toEqual([
      'Rp\u00A095.000',
      '–',
      '–',
      '–',
    ]);
    const untaxed = { ...receipts, lines: [{ ...payment, withoutTax: 289_000, tax: 0, taxBase: undefined }] };
    const { columns, rows, total } = describeReceipts(untaxed, 'Asia/Jakarta', 'IDR');
    expect([columns.length, ...rows.map((row) => row.length), total.length]).toEqual([7, 7, 7, 7]);
  });

  it('names no seller in a month without receipts', () => {
    const receipts = { lines: [], unnumbered: { count: 1, gross: 95_000 } };
    expect(monthToHtml({ ...documentOf('2026-03-01T00:00:00Z'), receipts })).not.toContain('Penjual');
  });

  it('says what the year has turned over, and which thresholds that has passed', () => {
    expect([500_000_000, 500_000_001, 4_800_000_001].map(noted)).toEqual([0, 1, 2]);
    expect(describeYear({ gross: 5_000_000_000, refunded: 0 }, '2026-02', 'USD')).not.toContain('Catatan');
  });

  it('takes the name of the seller for text', () => {
    expect(monthToHtml(documentOf('2026-03-01T00:00:00Z'))).toContain('<p>Daypass &#60;&#38;&#62;. Waktu:');
  });
});
