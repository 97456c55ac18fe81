/** Wallet names as the wallets spell them, by provider code. */
const titles: Readonly<Record<string, string>> = {
  'airpay shopee': 'ShopeePay',
  dana: 'DANA',
  gopay: 'GoPay',
  linkaja: 'LinkAja',
  ovo: 'OVO',
  shopeepay: 'ShopeePay',
};

/**
 * Returns the display name of a bank or wallet.
 *
 * @param issuer the provider's code for it
 */
export function issuerTitle(issuer: string): string {
  return titles[issuer.toLowerCase()] ?? issuer;
}
