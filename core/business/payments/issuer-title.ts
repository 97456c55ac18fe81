const titlesByCode: Readonly<Record<string, string>> = {
  'airpay shopee': 'ShopeePay',
  dana: 'DANA',
  gopay: 'GoPay',
  linkaja: 'LinkAja',
  ovo: 'OVO',
  shopeepay: 'ShopeePay',
};

/** @param issuer the provider's code for a bank or wallet */
export function issuerTitle(issuer: string): string {
  return titlesByCode[issuer.toLowerCase()] ?? issuer;
}
