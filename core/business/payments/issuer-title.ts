/** Wallets' own spelling, by the providers' codes. */
const titles: Readonly<Record<string, string>> = {
  'airpay shopee': 'ShopeePay',
  dana: 'DANA',
  gopay: 'GoPay',
  linkaja: 'LinkAja',
  ovo: 'OVO',
  shopeepay: 'ShopeePay',
};

/** The bank or wallet of a payment, for people. @param issuer as the provider names it */
export function issuerTitle(issuer: string): string {
  return titles[issuer.toLowerCase()] ?? issuer;
}
