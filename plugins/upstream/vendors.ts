import type { Vendor } from '#core/config/catalog/catalog.ts';
import { cloudVendors } from './vendors/clouds.ts';
import { hostVendors } from './vendors/hosts.ts';
import { labVendors } from './vendors/labs.ts';
import { originVendors } from './vendors/origins.ts';
import { serverVendors } from './vendors/servers.ts';

/**
 * Vendor presets as data: an upstream with a preset needs only a key. An endpoint with several formats lists all of them, and a vendor's
 * deviations are listed as quirks. Source: each vendor's API reference.
 */
export const vendors: readonly Vendor[] = [
  ...originVendors,
  ...cloudVendors,
  ...labVendors,
  ...hostVendors,
  ...serverVendors,
];
