import { z } from 'zod';
import { confirmRenewals } from '../../app/reminders/confirm-renewals.ts';
import { reviewRenewals } from '../../app/reminders/review-renewals.ts';
import type { ActionHandler } from '../kit/button.ts';
import { defineForm, noticeView } from '../kit/form.ts';
import type { ModalHandler } from '../kit/modal.ts';
import { count } from '../kit/text.ts';
import { renewAllButton } from './buttons.ts';
import { RENEW_ALL_TITLE, renewAllReview, renewAllView } from './renew-all-review.ts';

const form = defineForm({
  id: 'renew_all',
  title: RENEW_ALL_TITLE,
  input: z.object({}),
  needs: reviewRenewals,
  load: async (_input, request, origin) =>
    renewAllView(await request.execute(reviewRenewals, { formId: origin.formId }), origin, request.currency),
});

export const renewAllActions: readonly ActionHandler[] = [
  form.handler,
  renewAllButton.on((_value, request) => form.open({}, request)),
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
