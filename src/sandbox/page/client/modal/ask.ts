import type { Json } from '../../../slack/page-api.ts';
import { changeScreen } from '../state/store.ts';

/** Shows Slack's confirmation dialog; resolves to true when the user confirms. */
export function confirmed(dialog: Json): Promise<boolean> {
  return new Promise((resolve) => {
    const answer = (isYes: boolean) => {
      changeScreen({ question: null });
      resolve(isYes);
    };
    changeScreen({ question: { dialog, answer } });
  });
}
