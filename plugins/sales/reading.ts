import type { OperatorReading } from '#core/business/operator-actions/operator-reading.ts';
import { readSales } from './sales-figures.ts';

export const salesReading: OperatorReading = {
  path: '/sales',
  summary: 'read the places under each limit, the waiting list, and the limits of the last weeks',
  read: readSales,
};
