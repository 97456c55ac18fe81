import { array, string } from '#core/platform/schema.ts';
import { defineSection, type SectionValues } from '../section.ts';

export const operatorsSection = defineSection({
  name: 'operators',
  schema: array(
    { items: string({ pattern: '^[^@\\s]+@[^@\\s]+$', maxLength: 320 }, 'An e-mail address.'), default: [] },
    'E-mail addresses of the accounts that may view the operator pages.',
  ),
});

/** Returns true if an address is listed in `operators`. Case is ignored. */
export function isOperatorAddress(
  { section }: { readonly section: SectionValues['get'] },
  address: string | undefined,
): boolean {
  if (address === undefined) return false;
  const foldedAddress = foldAscii(address);
  return section(operatorsSection).some((operator) => foldAscii(operator) === foldedAddress);
}

function foldAscii(address: string): string {
  // Only ASCII letters: Unicode would also fold the Kelvin sign (U+212A) to `k`, for example, which is a different mailbox.
  return address.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
}
