import type { Request } from '@hapi/hapi';
import type { Host } from '#core/gateway/host/host.ts';
import { isSecure } from '../pages/cookies.ts';

/**
 * Pages load resources only from this site and cannot be framed. They contain no inline code, so the policy needs no nonces or hashes and
 * never changes. `connect-src` allows htmx and server-sent events.
 */
const pagePolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "manifest-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ');

const filePolicy = "default-src 'none'; frame-ancestors 'none'"; // a file that is opened directly must not load anything

const commonHeaders: Readonly<Record<string, string>> = {
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=()',
};

const strictTransportPolicy = 'max-age=63072000'; // two years, as preload lists require; subdomains may belong to others

const confidentialHeaders = { 'referrer-policy': 'no-referrer', 'x-robots-tag': 'noindex, nofollow' } as const;

export function createSecurityHeaders(
  request: Request,
  host: Host,
  { isPage, isConfidential }: { readonly isPage: boolean; readonly isConfidential: boolean },
): Record<string, string> {
  return {
    ...commonHeaders,
    ...(isConfidential && confidentialHeaders),
    'content-security-policy': isPage ? pagePolicy : filePolicy,
    ...(isSecure(request, host) && { 'strict-transport-security': strictTransportPolicy }),
  };
}
