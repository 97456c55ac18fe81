import type { Service } from './host.ts';

/** The address at which people reach the operator, as they read it; undefined where gateway.yaml has none. */
export function contactOf({ contact }: Pick<Service, 'contact'>): string | undefined {
  return contact?.replace(/^mailto:/, '');
}
