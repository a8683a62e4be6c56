//! Which functions there are, how often each was called, and what the test wants its n-th call to do.

use gpu_seam::GpuError;

macro_rules! calls {
    ($($field:ident = $variant:ident,)+) => {
        /// A function of the driver traits.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Call { $(#[doc = concat!("`", stringify!($field), "`.")] $variant,)+ }

        impl Call {
            /// Every function that is counted.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// The function's name.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => stringify!($field),)+ }
            }
        }

        /// How often each function was called, refused calls included.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
        pub struct Calls { $(#[doc = concat!("Calls of `", stringify!($field), "`.")] pub $field: u64,)+ }

        impl Calls {
            /// The count of one function.
            #[must_use]
            pub const fn get(&self, call: Call) -> u64 {
                match call { $(Call::$variant => self.$field,)+ }
            }

            /// What was called since an earlier snapshot.
            #[must_use]
            pub const fn since(&self, earlier: &Self) -> Self {
                Self { $($field: self.$field - earlier.$field,)+ }
            }

            /// All calls together.
            #[must_use]
            pub const fn total(&self) -> u64 {
                0 $(+ self.$field)+
            }

            pub(crate) const fn count(&mut self, call: Call) {
                match call { $(Call::$variant => self.$field += 1,)+ }
            }
        }
    };
}

calls! {
    memory = Memory,
    allocate = Allocate,
    free = Free,
    create_stream = CreateStream,
    destroy_stream = DestroyStream,
    synchronize = Synchronize,
    create_event = CreateEvent,
    destroy_event = DestroyEvent,
    record = Record,
    wait = Wait,
    poll = Poll,
    alloc_staging = AllocStaging,
    free_staging = FreeStaging,
    begin_access = BeginAccess,
    write = Write,
    read = Read,
    end_access = EndAccess,
    copy_in = CopyIn,
    copy_out = CopyOut,
    copy_device = CopyDevice,
    write_direct = WriteDirect,
    read_direct = ReadDirect,
    plan = Plan,
    execute = Execute,
}

/// What a rule makes of a call.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Verdict {
    Refuse(GpuError),
    Panic,
    Pause,
}

/// One instruction of the test about the calls of one function.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Rule {
    pub(crate) call: Call,
    /// Calls that still pass before it applies.
    pub(crate) skip: u64,
    /// Whether it stays after it has applied.
    pub(crate) always: bool,
    pub(crate) verdict: Verdict,
}

/// What the rules say about this call of `call`, which they thereby count.
pub(crate) fn judge(rules: &mut Vec<Rule>, call: Call) -> Option<Verdict> {
    let mut verdict = None;
    rules.retain_mut(|rule| {
        if rule.call != call || verdict.is_some() {
            return true;
        }
        if rule.skip > 0 {
            rule.skip -= 1;
            return true;
        }
        verdict = Some(rule.verdict.clone());
        rule.always
    });
    verdict
}
