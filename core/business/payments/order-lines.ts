import type { EntityManager } from '@mikro-orm/postgresql';
import type { Queries } from '#core/platform/database/database.ts';
import type { Row } from '#core/platform/database/rows.ts';
import type { OrderLines } from './entities.ts';
import type { OrderLine } from './order-types.ts';

/*
 * Lines that plugins add to an order when it is placed. They appear on the receipt, in the email and on the operator's order page. They are
 * stored with the order so that a receipt can be issued without the plugin once the payment is recorded.
 */

export type { OrderLine } from './order-types.ts';

/** An order that a buyer has just placed. */
export interface PlacedOrder {
  readonly id: string;
  readonly accountId: string;
  /** False if the buyer placed an open order for the same plan again, for example in another tab. */
  readonly isNew: boolean;
}

/**
 * Stores a plugin's data about an order, as the last step of the order's transaction. Core already holds locks on the buyer's account and,
 * for plans with a limited number of places, on those places (see `PlaceSteps`). Do not take any other lock that concurrent transactions may take, or
 * they could deadlock. If this throws, no order is placed.
 */
export type RecordOrder = (transaction: EntityManager, order: PlacedOrder) => Promise<readonly OrderLine[]>;

/** Stores an order's lines. If the order was placed again, they replace its earlier lines. */
export async function storeOrderLines(
  transaction: EntityManager,
  { id, isNew }: PlacedOrder,
  lines: readonly OrderLine[],
): Promise<void> {
  if (!isNew) await transaction.execute('delete from order_lines where order_id = ?', [id]);
  if (lines.length === 0) return;
  await transaction.execute('insert into order_lines (order_id, lines) values (?, ?::jsonb)', [
    id,
    JSON.stringify(lines),
  ]);
}

export async function readOrderLines(database: Queries, orderId: string): Promise<readonly OrderLine[]> {
  const [row] = await database.query<Row<typeof OrderLines, 'lines'>>(
    'select lines from order_lines where order_id = ?',
    [orderId],
  );
  return row?.lines ?? [];
}

/**
 * Describes a line in the reader's language. `path`, which may be an https URL, is '' if the line has no link, or an unsafe one.
 *
 * @param baseUrl prepended to this gateway's own paths, because emails need full URLs
 */
export function describeOrderLine(
  { label, text, path }: OrderLine,
  language: keyof OrderLine['label'],
  baseUrl = '',
): { readonly label: string; readonly text: string; readonly path: string } {
  // Only paths on this gateway and https URLs become links. Browsers treat `//host`, `/\host`, and `/` + tab + `/host` as a different host.
  const target = path === undefined || !/^(?:\/(?![/\\\s])|https:\/\/)/.test(path) ? '' : path;
  return { label: label[language], text: text[language], path: target.startsWith('/') ? baseUrl + target : target };
}
