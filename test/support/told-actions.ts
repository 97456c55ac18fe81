import { describeDetails } from '#core/business/operator-actions/action-kind.ts';
import { listActions, type RecordedAction } from '#core/business/operator-actions/operator-actions.ts';

/** Each action has its whole input in `note`, in the form that commands print. */
export async function listToldActions(...query: Parameters<typeof listActions>): Promise<RecordedAction[]> {
  const actions = await listActions(...query);
  return actions.map((action) => ({ ...action, note: describeDetails({ ...action.details, note: action.note }) }));
}
