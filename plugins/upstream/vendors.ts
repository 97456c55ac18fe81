import type { Vendor } from '#core/catalog/catalog.ts';
import { hostVendors } from './vendors/hosts.ts';
import { labVendors } from './vendors/labs.ts';
import { originVendors } from './vendors/origins.ts';

/**
 * Presets, as data: an upstream of one of these needs a key and nothing else. Endpoints that speak several formats list
 * all of them; vendor deviations are listed as quirks. Sources: each vendor's API reference.
 */
export const vendors: readonly Vendor[] = [...originVendors, ...labVendors, ...hostVendors];
