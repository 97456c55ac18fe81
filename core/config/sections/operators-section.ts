import { array, string } from '#core/platform/schema.ts';
import { defineSection, type SectionValues } from '../section.ts';

/** The section `operators`: accounts that may view the operator's pages. */
export const operatorsSection = defineSection({
  name: 'operators',
  schema: array(
    { items: string({ pattern: '^[^@\\s]+@[^@\\s]+$', maxLength: 320 }, 'An e-mail address.'), default: [] },
    'E-mail addresses of the accounts that may view the operator pages.',
  ),
});

/** Returns true for an address in `operators`, ignoring case. */
export function isOperatorAddress(
  { section }: { readonly section: SectionValues['get'] },
  address: string | undefined,
): boolean {
  if (address === undefined) return false;
  const foldedAddress = foldAscii(address);
  return section(operatorsSection).some((operator) => foldAscii(operator) === foldedAddress);
}

/** Folds only ASCII, because Unicode would fold, for example, the Kelvin sign (U+212A) to `k`, which is a different mailbox. */
function foldAscii(address: string): string {
  return address.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
}
