/** How a process of Millrace ends when it ends by itself. */
export const EXIT = {
  /** Stopped as asked; everything committed, or safely left undone. */
  stopped: 0,
  /** It can not go on. */
  failed: 1,
  /** The command line, the configuration or the user's code can not be used; nothing was started. */
  unusable: 2,
} as const;
