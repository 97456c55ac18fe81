export interface BalanceAt {
  readonly at: number; // epoch ms
  readonly amount: number;
}

interface Forecast {
  readonly perDay: number;
  readonly days: number | undefined;
}

export const day = 86_400_000; // ms
export const week = 7 * day; // ms
const minCoverageMs = day / 8;

/**
 * Forecasts when a balance runs out. Usage is the sum of all decreases in the last week, so topping up does not reduce it.
 *
 * @param readings of one account in one currency, oldest first
 * @returns undefined if the readings span less than three hours
 */
export function forecast(readings: readonly BalanceAt[]): Forecast | undefined {
  const latest = readings.at(-1);
  if (latest === undefined) return undefined;
  const recent = readings.filter(({ at }) => at >= latest.at - week);
  const coveredMs = latest.at - (recent[0]?.at ?? latest.at);
  if (coveredMs < minCoverageMs) return undefined;
  const usedAmount = recent.reduce(
    (sum, { amount }, index) => sum + Math.max(0, (recent[index - 1]?.amount ?? amount) - amount),
    0,
  );
  return computeForecast(latest.amount, (usedAmount / coveredMs) * day);
}

export function computeForecast(amount: number, perDay: number): Forecast {
  return { perDay, days: perDay > 0 ? Math.max(0, amount) / perDay : undefined };
}
