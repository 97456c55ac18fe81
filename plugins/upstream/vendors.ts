import type { Vendor } from '#core/config/catalog/catalog.ts';
import { cloudVendors } from './vendors/clouds.ts';
import { hostVendors } from './vendors/hosts.ts';
import { labVendors } from './vendors/labs.ts';
import { originVendors } from './vendors/origins.ts';
import { serverVendors } from './vendors/servers.ts';

/**
 * Vendor presets as data: an upstream with a preset needs only a key. Endpoints with several formats list all of them; vendor deviations
 * are listed as quirks. Sources: each vendor's API reference.
 */
export const vendors: readonly Vendor[] = [
  ...originVendors,
  ...cloudVendors,
  ...labVendors,
  ...hostVendors,
  ...serverVendors,
];
