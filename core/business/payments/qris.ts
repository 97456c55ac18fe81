import { readRupiah } from './amount.ts';

/*
 * Text of a QRIS code: EMVCo's merchant-presented QR with Bank Indonesia's rules. It is a list of fields, each with a two-digit id, a
 * two-digit length in characters, and a value; the value of a template is again such a list. The checksum covers UTF-8 bytes. Fields are
 * kept in arrays, because an object would sort "26" before "00".
 */

/** Bank Indonesia's limits on a QRIS payment, in rupiah. */
export const qrisAmountLimits = { least: 1, most: 10_000_000 };

const nationalRepository = 'ID.CO.QRIS.WWW'; // GUID; its account contains the NMID

/** Two-digit id, and the text or the nested fields. */
export type QrisField = readonly [id: string, value: string | readonly QrisField[]];

export interface Qris {
  /** True if the code is for one payment of one amount; false for a printed code that is paid many times. */
  readonly isDynamic: boolean;
  /** Whole rupiah; undefined if the payer enters it. */
  readonly amount: number | undefined;
  /** True if the wallet adds a tip or a fee to the amount (field 55). Codes that are written here never have one. */
  readonly hasFee?: boolean;
  /** True if there is a fee (field 56 or 57) but not its indicator (field 55). Wallets ignore such a fee. */
  readonly hasStrayFee?: boolean;
  readonly merchantName: string;
  readonly merchantCity: string;
  readonly postalCode?: string | undefined;
  /** ISO 18245, four digits. */
  readonly categoryCode: string;
  /** The acquirers' accounts (fields 26 to 45) and the national repository's (51). */
  readonly accounts: readonly QrisField[];
  /** Field 62: bill number (01), reference (05), terminal (07), … */
  readonly additional?: readonly QrisField[] | undefined;
}

/** Thrown for a payload that no wallet would accept, or that cannot be written. */
export class QrisError extends Error {
  override readonly name = 'QrisError';
}

const maxPayloadLength = 512; // characters; EMVCo's limit
const isTemplate = (id: string) => (id >= '26' && id <= '51') || id === '62' || id === '64' || id >= '80';

const maxLengths: Readonly<Record<string, number>> = {
  '52': 4,
  '53': 3,
  '54': 13,
  '58': 2,
  '59': 25,
  '60': 15,
  '61': 10,
};
const maxAdditionalLength = 25; // characters of each field inside 62
const maxFieldLength = 99; // two digits

/**
 * Writes a payload, including its checksum.
 *
 * @throws QrisError if a value is too long or not printable ASCII
 */
export function writeQris(qris: Qris): string {
  const fields: QrisField[] = [
    ['00', '01'],
    ['01', qris.isDynamic ? '12' : '11'],
    ...qris.accounts,
    ['52', qris.categoryCode],
    ['53', '360'],
    ...(qris.amount === undefined ? [] : [['54', writeAmount(qris.amount)] as const]),
    ['58', 'ID'],
    ['59', qris.merchantName],
    ['60', qris.merchantCity],
    ...(qris.postalCode === undefined ? [] : [['61', qris.postalCode] as const]),
    ...(qris.additional === undefined ? [] : [['62', qris.additional] as const]),
  ];
  const unsigned = `${writeFields(fields)}6304`;
  if (unsigned.length + 4 > maxPayloadLength) throw new QrisError(`The payload exceeds ${maxPayloadLength} characters`);
  return unsigned + crc16(unsigned);
}

/**
 * Reads a payload and verifies its checksum.
 *
 * @throws QrisError naming the field that is wrong
 */
export function readQris(payload: string): Qris {
  if (payload.length > maxPayloadLength) throw new QrisError(`The payload exceeds ${maxPayloadLength} characters`);
  checkChecksum(payload);
  const fields = readFields(payload);
  const text = (id: string) => findText(fields, id);
  if (fields[0]?.[0] !== '00' || text('00') !== '01') throw new QrisError('Field 00 must come first and be 01');
  if (fields.at(-1)?.[0] !== '63') throw new QrisError('Field 63 must come last');
  requireValue(fields, '53', '360', 'IDR');
  requireValue(fields, '58', 'ID', 'Indonesia');
  const accounts = fields.filter(([id]) => id >= '26' && id <= '51');
  if (accounts.length === 0) throw new QrisError('No merchant account (fields 26 to 51)');
  const amount = text('54');
  return {
    isDynamic: requireText(fields, '01') === '12',
    amount: amount === undefined ? undefined : readAmount(amount),
    ...readFee(text),
    merchantName: requireText(fields, '59'),
    merchantCity: requireText(fields, '60'),
    postalCode: text('61'),
    categoryCode: requireText(fields, '52'),
    accounts,
    additional: fields.find(([id]) => id === '62')?.[1] as readonly QrisField[] | undefined,
  };
}

function readFee(text: (id: string) => string | undefined): Pick<Qris, 'hasFee' | 'hasStrayFee'> {
  if (text('55') !== undefined) return { hasFee: true };
  return text('56') !== undefined || text('57') !== undefined ? { hasStrayFee: true } : {};
}

/** Returns the national merchant id, which is printed below the merchant's name; undefined if the code has none. */
export function findNmid({ accounts }: Pick<Qris, 'accounts'>): string | undefined {
  for (const [, account] of accounts) {
    if (typeof account !== 'string' && findText(account, '00')?.toUpperCase() === nationalRepository)
      return findText(account, '02');
  }
  return undefined;
}

/** Returns the CRC-16/CCITT-FALSE as four upper-case hexadecimal digits. */
export function crc16(text: string): string {
  let sum = 0xffff;
  for (const byte of Buffer.from(text, 'utf8')) {
    sum ^= byte << 8;
    for (let bit = 0; bit < 8; bit++) sum = sum & 0x8000 ? ((sum << 1) ^ 0x1021) & 0xffff : (sum << 1) & 0xffff;
  }
  return sum.toString(16).toUpperCase().padStart(4, '0');
}

/** @throws QrisError if a value does not fit */
export function writeFields(fields: readonly QrisField[], parent?: string): string {
  return fields.map(([id, value]) => writeField(id, value, parent)).join('');
}

function writeField(id: string, value: QrisField[1], parent: string | undefined): string {
  const name = parent === undefined ? id : `${parent}.${id}`;
  if (!/^\d\d$/.test(id)) throw new QrisError(`"${id}" is not a field; ids have two digits`);
  const text = typeof value === 'string' ? value : writeFields(value, id);
  if (!/^[ -~]+$/.test(text)) throw new QrisError(`Field ${name} must be printable ASCII, and not empty`);
  const maxLength = findMaxLength(id, parent);
  if (text.length > maxLength)
    throw new QrisError(`Field ${name} has ${text.length} characters; the limit is ${maxLength}`);
  return id + String(text.length).padStart(2, '0') + text;
}

function findMaxLength(id: string, parent: string | undefined): number {
  if (parent === '62') return maxAdditionalLength;
  return (parent === undefined ? maxLengths[id] : undefined) ?? maxFieldLength;
}

/** @throws QrisError if a length does not fit */
export function readFields(payload: string): QrisField[] {
  // EMVCo counts code points, neither UTF-8 bytes nor UTF-16 units.
  return splitFields(Array.from(payload), { isTopLevel: true });
}

function splitFields(characters: readonly string[], { isTopLevel }: { readonly isTopLevel: boolean }): QrisField[] {
  const fields: QrisField[] = [];
  const text = (start: number, end: number) => characters.slice(start, end).join('');
  for (let start = 0; start < characters.length;) {
    const [, id, length] = /^(\d\d)(\d\d)$/.exec(text(start, start + 4)) ?? [];
    if (id === undefined || length === undefined)
      throw new QrisError(`Expected a field at character ${start}: two digits of id and two of length`);
    const end = start + 4 + Number(length);
    if (Number(length) === 0 || end > characters.length)
      throw new QrisError(`Length ${length} of field ${id} does not match the payload`);
    if (isTopLevel && fields.some(([fieldId]) => fieldId === id)) throw new QrisError(`Field ${id} appears twice`);
    const isNested = isTopLevel && isTemplate(id);
    const value = isNested
      ? splitFields(characters.slice(start + 4, end), { isTopLevel: false })
      : text(start + 4, end);
    fields.push([id, value]);
    start = end;
  }
  return fields;
}

function checkChecksum(payload: string): void {
  const [, signed, sum] = /^(.*6304)([0-9A-F]{4})$/s.exec(payload) ?? [];
  if (signed === undefined)
    throw new QrisError('The payload must end with its checksum: 6304 and four hexadecimal digits');
  if (crc16(signed) !== sum) throw new QrisError(`The checksum is ${sum}, not ${crc16(signed)}`);
}

function findText(fields: readonly QrisField[], id: string): string | undefined {
  const value = fields.find(([fieldId]) => fieldId === id)?.[1];
  return typeof value === 'string' ? value : undefined;
}

function requireValue(fields: readonly QrisField[], id: string, expected: string, meaning: string): void {
  const value = requireText(fields, id);
  if (value !== expected) throw new QrisError(`Field ${id} must be ${expected} (${meaning}), not ${value}`);
}

function requireText(fields: readonly QrisField[], id: string): string {
  const value = findText(fields, id);
  if (value === undefined) throw new QrisError(`Field ${id} is missing`);
  return value;
}

function writeAmount(amount: number): string {
  if (Number.isSafeInteger(amount) && amount > 0) return String(amount);
  throw new QrisError(`${amount} is not a positive amount in whole rupiah`);
}

function readAmount(text: string): number {
  const amount = readRupiah(text.replace(/\.$/, '')); // EMVCo allows a decimal mark without decimals after it
  if (amount === undefined || amount === 0)
    throw new QrisError(`Field 54 must be a positive amount in whole rupiah, not "${text}"`);
  return amount;
}
