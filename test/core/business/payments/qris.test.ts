import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  crc16,
  findNmid,
  type Qris,
  QrisError,
  readFields,
  readQris,
  writeFields,
  writeQris,
} from '#core/business/payments/qris.ts';

const dynamic =
  '00020101021226690017ID.CO.EXAMPLE.WWW01189360000100000000120215EXAMPLE000000010303UMI51440014ID.CO.QRIS.WWW0215ID10200000000010303UMI5204573453033605405250005802ID5912GATEWAY DEMO6007JAKARTA61051011062350110ORD-7F3K2M0510INV00000010703A01630465DA';

const order: Qris = {
  isDynamic: true,
  amount: 25_000,
  merchantName: 'GATEWAY DEMO',
  merchantCity: 'JAKARTA',
  postalCode: '10110',
  categoryCode: '5734',
  accounts: [
    [
      '26',
      [
        ['00', 'ID.CO.EXAMPLE.WWW'],
        ['01', '936000010000000012'],
        ['02', 'EXAMPLE00000001'],
        ['03', 'UMI'],
      ],
    ],
    [
      '51',
      [
        ['00', 'ID.CO.QRIS.WWW'],
        ['02', 'ID1020000000001'],
        ['03', 'UMI'],
      ],
    ],
  ],
  additional: [
    ['01', 'ORD-7F3K2M'],
    ['05', 'INV0000001'],
    ['07', 'A01'],
  ],
};

/** Printable ASCII, at least one character. */
const text = (max: number) => fc.stringMatching(new RegExp(`^[ -~]{1,${max}}$`));

/** Corrects the checksum of a changed payload. */
const resign = (payload: string) => payload.slice(0, -4) + crc16(payload.slice(0, -4));

describe('the checksum', () => {
  it('has the check value of CRC-16/CCITT-FALSE', () => expect(crc16('123456789')).toBe('29B1'));

  it('is padded to four digits', () => {
    const short = Array.from({ length: 5_000 }, (_, n) => crc16(String(n))).find((sum) => sum.startsWith('0'));
    expect(short).toMatch(/^0[0-9A-F]{3}$/);
  });
});

describe('a payload', () => {
  it('of one payment is written as in the worked example, 246 characters', () => {
    expect(writeQris(order)).toBe(dynamic);
    expect(dynamic).toHaveLength(246);
  });

  it('without an amount is written as in the worked example, 209 characters, checksum 934E', () => {
    const printed = writeQris({ ...order, isDynamic: false, amount: undefined, additional: [['07', 'A01']] });
    expect([printed.length, printed.slice(-4)]).toEqual([209, '934E']);
    expect(readQris(printed)).toMatchObject({ isDynamic: false, amount: undefined });
  });

  it('is read back to what was written', () => expect(readQris(dynamic)).toEqual(order));

  it('keeps the order of its fields, which an object would not', () => {
    const fields = readFields(dynamic);
    expect(fields.map(([id]) => id).slice(0, 4)).toEqual(['00', '01', '26', '51']);
    expect(writeFields(fields)).toBe(dynamic);
  });

  it.each([
    ['É', 'KEDAI KOPI É'], // 13 bytes of UTF-8
    ['𠮷', 'KEDAI KOPI 𠮷'], // 15 bytes of UTF-8, 13 units of UTF-16
  ])('has lengths in characters, of which %s is one', (_character, name) => {
    const payload = resign(dynamic.replace('5912GATEWAY DEMO', `5912${name}`));
    expect(readQris(payload).merchantName).toBe(name);
  });

  it('with a merchant name in another language is split as in the example of EMVCo', () => {
    const example =
      '00020101021229300012D156000000000510A93FO3230Q31280012D15600000001030812345678520441115802CN5914BEST TRANSPORT6007BEIJING64200002ZH0104最佳运输0202北京540523.7253031565502016233030412340603***0708A60086670902ME91320016A0112233449988770708123456786304A13A';
    expect(crc16(example.slice(0, -4))).toBe('A13A');
    expect(readFields(example).find(([id]) => id === '64')).toEqual([
      '64',
      [
        ['00', 'ZH'],
        ['01', '最佳运输'],
        ['02', '北京'],
      ],
    ]);
  });

  it.each(['0625000.', '0825000.00', '0725000.0'])(
    'may have an amount without or with zero decimals: 54%s',
    (field) => {
      expect(readQris(resign(dynamic.replace('540525000', `54${field}`))).amount).toBe(25_000);
    },
  );

  it.each([
    ['55020256035005802ID', { hasFee: true }],
    ['5502015802ID', { hasFee: true }],
    ['56035005802ID', { hasStrayFee: true }],
    ['570115802ID', { hasStrayFee: true }],
  ])('with fee fields %s says whether wallets add it', (fields, expected) => {
    const { hasFee, hasStrayFee } = readQris(resign(dynamic.replace('5802ID', fields)));
    expect({ hasFee, hasStrayFee }).toMatchObject(expected);
  });

  it('names the merchant as the national repository knows it', () => {
    expect(findNmid(readQris(dynamic))).toBe('ID1020000000001');
    expect(findNmid({ accounts: order.accounts.slice(0, 1) })).toBeUndefined();
  });

  it('is read for any amount, name and reference that fit', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 10_000_000 }), text(25), text(15), text(25), (amount, name, city, bill) => {
        const written = {
          ...order,
          amount,
          merchantName: name,
          merchantCity: city,
          additional: [['01', bill]],
        } as Qris;
        expect(readQris(writeQris(written))).toEqual(written);
      }),
    );
  });
});

describe('a payload is refused', () => {
  it.each([
    ['with a changed amount', dynamic.replace('540525000', '540515000')],
    ['with a checksum in lower case', dynamic.replace(/65DA$/, '65da')],
    ['without a checksum', dynamic.slice(0, -8)],
    ['when it is cut', dynamic.slice(0, 120)],
    ['when it is empty', ''],
    ['with a length past its end', resign(`${dynamic.slice(0, -8)}6299A6304XXXX`)],
    ['with a length that is no number', resign(dynamic.replace('5912', '59x2'))],
    ['with an empty field', resign(dynamic.replace('5912GATEWAY DEMO', '5900'))],
    ['with two amounts', resign(dynamic.replace('540525000', '540525000540515000'))],
    ['with an amount in parts of a rupiah', resign(dynamic.replace('540525000', '540825000.50'))],
    ['with an amount of nothing', resign(dynamic.replace('540525000', '54010'))],
    ['in another currency', resign(dynamic.replace('5303360', '5303840'))],
    ['from another country', resign(dynamic.replace('5802ID', '5802MY'))],
    ['without a merchant name', resign(dynamic.replace('5912GATEWAY DEMO', ''))],
    ['when its first field is another', resign(`0102120002016${dynamic.slice(13)}`)],
    [
      'over 512 characters',
      resign(dynamic.replace('6304', `9799${'A'.repeat(99)}9899${'A'.repeat(99)}9999${'A'.repeat(99)}6304`)),
    ],
  ])('%s', (_title, payload) => expect(() => readQris(payload)).toThrow(QrisError));

  it('because of its checksum alone', () => {
    expect(() => readQris(dynamic.replace('65DA', '65DB'))).toThrow('The checksum is 65DB, not 65DA');
  });
});

describe('a payload is not written', () => {
  it.each([
    ['with a name over 25 characters', { merchantName: 'X'.repeat(26) }],
    ['with a city over 15 characters', { merchantCity: 'X'.repeat(16) }],
    ['with a name that is not ASCII', { merchantName: 'KEDAI É' }],
    ['with a reference over 25 characters', { additional: [['05', 'X'.repeat(26)]] }],
    ['with a template over 99 characters', { additional: [1, 2, 3, 4].map((n) => [`0${n}`, 'X'.repeat(25)]) }],
    ['with an amount of 0', { amount: 0 }],
    ['with parts of a rupiah', { amount: 1.5 }],
    ['with an id of one digit', { additional: [['5', 'X']] }],
  ])('%s', (_title, change) => expect(() => writeQris({ ...order, ...change } as Qris)).toThrow(QrisError));

  it('over 512 characters', () => {
    const accounts = ['26', '27', '28', '29', '30', '31'].map((id) => [id, [['00', 'X'.repeat(90)]]] as const);
    expect(() => writeQris({ ...order, accounts })).toThrow('The payload exceeds 512 characters');
  });
});

/** Accounts of which the last one's text is so long. */
const accountsWith = (length: number) =>
  ['26', '27', '28', '29', '30', '31'].map(
    (id, index) => [id, [['00', 'X'.repeat(index === 5 ? length : 56)]]] as const,
  );

it('a payload of exactly 512 characters is written and read', () => {
  const spare = 512 - writeQris({ ...order, accounts: accountsWith(1) }).length;
  const longest = writeQris({ ...order, accounts: accountsWith(1 + spare) });
  expect([longest.length, readQris(longest).amount]).toEqual([512, order.amount]);
  expect(() => writeQris({ ...order, accounts: accountsWith(2 + spare) })).toThrow(
    'The payload exceeds 512 characters',
  );
});
