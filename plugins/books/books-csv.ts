import { type Movement, movementColumns as columns } from '#core/business/payments/movements.ts';
import { formatCsvLine } from '#core/platform/csv.ts';
import { formatLocalTime } from '#core/platform/timing/time-zone.ts';

const heading = Object.keys(columns);

interface Total {
  readonly provider: string;
  readonly currency: string;
  amount: number;
  fee: number | undefined; // undefined if unknown, as opposed to 0
}

/**
 * Renders the export as CSV. Each day ends with a `total` line per provider and currency, which must match the provider's settlement report
 * for that day. It therefore omits manual refunds, which do not go through the provider.
 */
export class BooksCsv {
  readonly #timeZone: string;
  readonly #includesTotals: boolean;
  readonly #totals = new Map<string, Total>();
  #day: string | undefined;

  constructor(timeZone: string, withTotals: boolean) {
    this.#timeZone = timeZone;
    this.#includesTotals = withTotals;
  }

  readonly head = formatCsvLine(heading);

  /** Movements must be passed oldest first. */
  renderMovement(movement: Movement): string[] {
    const { day, clock } = formatLocalTime(movement.at, this.#timeZone);
    const totalLines = day === this.#day ? [] : this.renderTotals();
    this.#day = day;
    this.#addToTotals(movement);
    const line = formatCsvLine(Object.values(columns).map((cell) => cell(movement, day, clock)));
    return [...totalLines, line];
  }

  renderTotals(): string[] {
    const day = this.#day;
    if (!this.#includesTotals || day === undefined) return [];
    const totals = [...this.#totals.values()];
    this.#totals.clear();
    return totals.map(({ provider, currency, amount, fee }) => {
      const cells: Readonly<Record<string, string | number | undefined>> = {
        day,
        kind: 'total',
        amount,
        currency,
        provider,
        fee,
      };
      return formatCsvLine(heading.map((name) => (name === 'net' ? amount - (fee ?? 0) : cells[name])));
    });
  }

  #addToTotals({ provider, currency, amount, fee, outcome }: Movement): void {
    if (outcome === 'manual') return;
    const key = `${provider} ${currency}`;
    const total = this.#totals.get(key) ?? { provider, currency, amount: 0, fee: undefined };
    total.amount += amount;
    if (fee !== undefined) total.fee = (total.fee ?? 0) + fee;
    this.#totals.set(key, total);
  }
}
