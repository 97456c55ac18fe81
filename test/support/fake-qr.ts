import { writeQris } from '#core/business/payments/qris.ts';

/** The payload is valid but cannot be paid. It contains the reference. */
export function fakeQr(reference: string, amount: number, merchantName = 'FAKE BANK'): string {
  return writeQris({
    isDynamic: true,
    amount,
    merchantName,
    merchantCity: 'JAKARTA',
    categoryCode: '5734',
    accounts: [
      [
        '51',
        [
          ['00', 'ID.CO.QRIS.WWW'],
          ['02', 'ID0000000000000'],
          ['03', 'UMI'],
        ],
      ],
    ],
    additional: [['01', reference.slice(0, 25)]],
  });
}
