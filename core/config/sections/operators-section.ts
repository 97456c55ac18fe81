import { defineSection, type SectionValues } from '../section.ts';
import { array, string } from '#core/platform/schema.ts';

/** `operators` in gateway.yaml: who may see the operator's pages. */
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
  const sought = foldAscii(address);
  return section(operatorsSection).some((operator) => foldAscii(operator) === sought);
}

/** Folds only ASCII: Unicode would fold the Kelvin sign (U+212A) to `k`, for example, which is another mailbox. */
function foldAscii(address: string): string {
  return address.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
}
