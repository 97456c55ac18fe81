import { domainToASCII } from 'node:url';

/**
 * Returns an e-mail address with its domain in Punycode, as SMTP without SMTPUTF8 needs it: `ani@xn--mnchen-3ya.example`. The local part
 * stays, because it has no ASCII form (RFC 6531, section 3.1).
 */
export function asciiAddress(address: string): string {
  const at = address.lastIndexOf('@');
  return at < 0 ? address : `${address.slice(0, at)}@${asciiDomain(address.slice(at + 1))}`;
}

/** Returns the domain of an e-mail address, in Punycode. */
export function domainOf(address: string): string {
  return asciiDomain(address.slice(address.lastIndexOf('@') + 1));
}

/** An invalid domain is returned unchanged: the mail server rejects it. */
function asciiDomain(domain: string): string {
  // eslint-disable-next-line no-control-regex
  return /^[\x00-\x7f]*$/.test(domain) ? domain : domainToASCII(domain) || domain;
}
