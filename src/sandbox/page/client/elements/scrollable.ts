/** The attributes of every region that scrolls: without a tab stop, it could not be scrolled with the keyboard alone. */
export const scrollable = { tabIndex: 0 } as const;
