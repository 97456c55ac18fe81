import { formatMoney } from '#core/business/accounts/money.ts';
import type { Queries } from '#core/platform/database/database.ts';

export interface YearSoFar {
  readonly gross: number;
  readonly refunded: number;
}

/** Turnover in rupiah above which Indonesian law may impose duties; a tax adviser can say whether it does. */
const thresholds = [
  { rupiah: 500_000_000, note: 'di atas Rp 500 juta: batas omzet bebas PPh final bagi orang pribadi (PP 55/2022)' },
  { rupiah: 4_800_000_000, note: 'di atas Rp 4,8 miliar: batas wajib menjadi Pengusaha Kena Pajak (PPN)' },
] as const;

export async function readYearSoFar(
  database: Queries,
  { month, timeZone, currency }: { readonly month: string; readonly timeZone: string; readonly currency: string },
): Promise<YearSoFar> {
  const [row] = await database.query<YearSoFar>(
    `with span as (
       select date_trunc('year', ?::date)::timestamp at time zone ? as since,
         (?::date + interval '1 month')::timestamp at time zone ? as until)
     select (select coalesce(sum(amount), 0)::float8 from payment
         where currency = ? and paid_at >= since and paid_at < until) as gross,
       (select coalesce(sum(amount), 0)::float8 from refund
         where currency = ? and state = 'done' and finished_at >= since and finished_at < until) as refunded
     from span`,
    [`${month}-01`, timeZone, `${month}-01`, timeZone, currency, currency],
  );
  return row ?? { gross: 0, refunded: 0 };
}

export function describeYear({ gross, refunded }: YearSoFar, month: string, currency: string): string {
  const exceeded = currency === 'IDR' ? thresholds.filter(({ rupiah }) => gross > rupiah) : [];
  const notes = exceeded.map(({ note }) => ` Catatan: ${note}.`).join('');
  const [grossText, netText] = [gross, gross - refunded].map((amount) => formatMoney(amount, currency));
  return `Tahun ${month.slice(0, 4)} sampai akhir bulan ini: bruto ${grossText}, neto ${netText}.${notes}`;
}
