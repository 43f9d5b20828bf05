import { confirmRenewals } from '../../app/reminders/confirm-renewals.ts';
import { reviewRenewals } from '../../app/reminders/review-renewals.ts';
import type { ActionHandler } from '../kit/button.ts';
import { defineForm, noticeView } from '../kit/form.ts';
import type { ModalHandler } from '../kit/modal.ts';
import { count } from '../kit/text.ts';
import { renewAllButton, renewAllInput } from './buttons.ts';
import { RENEW_ALL_TITLE, renewAllReview, renewAllView } from './renew-all-review.ts';

const form = defineForm({
  id: 'renew_all',
  title: RENEW_ALL_TITLE,
  input: renewAllInput,
  needs: reviewRenewals,
  load: async (input, request, origin) => {
    const review = await request.execute(reviewRenewals, { ...input, formId: origin.formId });
    return renewAllView(review, origin, request.currency);
  },
});

export const renewAllActions: readonly ActionHandler[] = [
  form.handler,
  renewAllButton.on((input, request) => form.open(input, request)),
];

/** Money effect: pays once for each server of the review; a second press shows that it was confirmed before. */
export const renewAllModal: ModalHandler = renewAllReview.onSubmit(
  confirmRenewals,
  async ({ origin, viewId }, request) => {
    // Before it is confirmed: the outcome may come as soon as it is.
    request.views.follow(origin.formId, viewId);
    const { batch, isNew } = await request.execute(confirmRenewals, { id: origin.formId });
    const words = isNew
      ? `Renewing ${count(batch.renewals.length, 'server')}… You can close this window. We’ll message you the result.`
      : 'Already confirmed. You won’t be charged twice.';
    return { with: noticeView(RENEW_ALL_TITLE, words) };
  },
);
